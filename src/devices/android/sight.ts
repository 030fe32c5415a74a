import type { Observed } from "../driver.ts";
import type { ListedDevice } from "./device-list.ts";
import type { DeviceIdentity } from "./identity.ts";

/** One entry of the server's list with what we know of it. */
export interface Sight {
  readonly listed: ListedDevice;
  /** Known only while the connection stands on which it was asked. */
  readonly identity: DeviceIdentity | undefined;
  /** Why the identity is not known, where that was found out. */
  readonly problem: string | undefined;
  /** It did not answer when it was asked last: a dead link keeps the state `device`. */
  readonly silent: boolean;
}

/** A sight through which a device can be reached. */
export interface Route {
  readonly listed: ListedDevice;
  readonly identity: DeviceIdentity;
}

export type Whereabouts =
  | { readonly kind: "reachable"; readonly route: Route; readonly others: readonly Route[] }
  | { readonly kind: "ambiguous"; readonly serials: readonly string[] }
  | { readonly kind: "absent" };

/** Serials by which nothing can be addressed: USB's stand-in for a missing one, and the server's word for none. */
export function isAddressable(serial: string): boolean {
  return serial !== "" && !/^\?+$/.test(serial) && serial !== "(no serial number)";
}

/**
 * Where the device of an identity is. Two entries are one device reached in two ways (USB and Wi-Fi) when both are of the same boot;
 * otherwise two devices say the same of themselves, and neither is proven. Pure.
 */
export function whereIs(id: string, sights: readonly Sight[]): Whereabouts {
  const routes = routesOf(sights).filter((route) => route.identity.id === id);
  const [first, ...others] = routes.toSorted(preferred);
  if (first === undefined) return { kind: "absent" };
  const boot = first.identity.bootId;
  const one = others.every((other) => boot !== undefined && other.identity.bootId === boot);
  if (!one) return { kind: "ambiguous", serials: routes.map((route) => route.listed.serial) };
  return { kind: "reachable", route: first, others };
}

function routesOf(sights: readonly Sight[]): Route[] {
  const count = new Map<string, number>();
  for (const { listed } of sights) count.set(listed.serial, (count.get(listed.serial) ?? 0) + 1);
  return sights.flatMap(({ listed, identity, silent }) => {
    if (identity === undefined || silent || listed.state !== "device") return [];
    if (!isAddressable(listed.serial) || count.get(listed.serial) !== 1) return [];
    return [{ listed, identity }];
  });
}

/** A cable before the air; then the connection that is there longest. */
function preferred(a: Route, b: Route): number {
  const cable = Number(b.listed.fields.has("usb")) - Number(a.listed.fields.has("usb"));
  return cable || (a.listed.transportId ?? 0) - (b.listed.transportId ?? 0);
}

/** All devices that answer, one entry each. One that can't be told from another is there but can't be used. Pure. */
export function observe(sights: readonly Sight[]): Observed[] {
  const ids = new Set(routesOf(sights).map((route) => route.identity.id));
  return [...ids].map((id) => {
    const where = whereIs(id, sights);
    const route = where.kind === "reachable" ? where.route : undefined;
    return {
      driverDeviceId: id,
      name: undefined,
      runState: route === undefined ? "transitioning" : "running",
      durableMark: undefined,
      erasableMark: undefined,
      address: route?.listed.serial,
      spec: route?.identity.spec,
    };
  });
}

/** A connection that the server may open anew, to whatever listens there now, without giving it another transport id (seen with adb 29 and 34). */
export function mayBeReconnected(listed: ListedDevice): boolean {
  return listed.transportId === undefined || (!listed.fields.has("usb") && !/^emulator-[0-9]+$/.test(listed.serial));
}
