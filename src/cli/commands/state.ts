import { access, rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { SimlockError, type StateProgress } from "../../contract/index.ts";
import {
  decodePlan,
  diffOf,
  encodeProfile,
  encodeProfileText,
  explainPlan,
  exportProfile,
  isOpen,
  lint,
  lintFiles,
  planNewDevice,
  planState,
  presets,
  readBundles,
  readRequestFor,
  resolveTarget,
  verifyState,
  type Composed,
  type ExecutionReport,
  type Plan,
  type Snapshot,
} from "../../state/index.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Invocation } from "../invocation.ts";
import { write, writeLine } from "../io.ts";
import { Stopped } from "../leasing.ts";
import { paintFor, type Paint } from "../render/paint.ts";
import type { StateAction } from "../state/invocation.ts";
import { stateMachine, type StateMachine } from "../state/machine.ts";
import {
  diffText,
  findingsText,
  inventoryText,
  presetsText,
  provenanceText,
  reportText,
  snapshotText,
  verdictsText,
} from "../state/render.ts";
import { Sources } from "../state/sources.ts";

/** Something differs, or a finding was made, and `--exit-code` asked to be told. */
const EXIT_DIFFERS = 3;
const EXIT_APPLY_FAILED = { simlock: 1, dropIn: 2 } as const;

/** `simlock state`, and the drop-in `ios-sim-state`. */
export async function state(context: Context, invocation: Extract<Invocation, { command: "state" }>): Promise<number> {
  const stopped = new Stopped({ parent: false });
  const machine = stateMachine({ context, connect: ({ launch }) => connect(context, { launch }) });
  try {
    return await new StateCommand(context, invocation, machine, stopped.signal).run(invocation.action);
  } finally {
    stopped.dispose();
    await machine.close();
  }
}

type Of<K extends StateAction["kind"]> = Extract<StateAction, { kind: K }>;

class StateCommand {
  readonly #context: Context;
  readonly #machine: StateMachine;
  readonly #signal: AbortSignal;
  readonly #sources: Sources;
  readonly #paint: Paint;
  readonly #invocation: Extract<Invocation, { command: "state" }>;

  constructor(
    context: Context,
    invocation: Extract<Invocation, { command: "state" }>,
    machine: StateMachine,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#invocation = invocation;
    this.#machine = machine;
    this.#signal = signal;
    this.#sources = new Sources(context);
    this.#paint = paintFor(context.io.stdout, context.io.env);
  }

  async run(action: StateAction): Promise<number> {
    switch (action.kind) {
      case "inventory":
        return this.#show(await this.#machine.reader.inventory(this.#signal), inventoryText);
      case "presets":
        return this.#show(presets(), presetsText);
      case "snapshot":
        return this.#show(await this.#snapshotOf(action), snapshotText);
      case "export":
        return this.#export(action);
      case "compose":
        return this.#compose(action);
      case "lint":
        return this.#lint(action);
      case "diff":
        return this.#diff(action);
      case "plan":
        return this.#plan(action);
      case "verify":
        return this.#verify(action);
      case "apply":
        return this.#apply(action);
      case "recover":
        return this.#recover(action);
      case "explain": {
        const plan = decodePlan(await this.#sources.document(action.plan, "--plan"));
        await write(this.#context.io.stdout, explainPlan(plan, action.format));
        return 0;
      }
      case "provenance": {
        const composed = await this.#sources.profiles(action.source);
        const [first] = composed;
        return this.#show(first?.provenance ?? [], provenanceText);
      }
    }
  }

  async #export({ device, snapshot, domains, format }: Of<"export">): Promise<number> {
    const read =
      snapshot === undefined
        ? await this.#snapshotOf({ device, domains, pasteboard: false })
        : await this.#sources.snapshot(snapshot);
    const { profile, omitted } = exportProfile(read);
    await write(this.#context.io.stdout, await encodeProfileText(profile, format));
    for (const { path, why } of omitted) await writeLine(this.#context.io.stderr, `left out ${path}: ${why}`);
    return 0;
  }

  async #compose({ source, format }: Of<"compose">): Promise<number> {
    const composed = await this.#sources.profiles(source, () => this.#machine.leased());
    if (format === "yaml") {
      const texts = await Promise.all(composed.map(async ({ profile }) => encodeProfileText(profile, "yaml")));
      await write(this.#context.io.stdout, texts.join("---\n"));
      return 0;
    }
    return this.#json(
      oneOrAll(
        composed.map(({ profile }) => encodeProfile(profile)),
        "profiles",
      ),
    );
  }

  async #lint({ source, exitCode }: Of<"lint">): Promise<number> {
    const composed = await this.#sources.profiles(source, () => this.#machine.leased());
    const findings = (
      await Promise.all(composed.map(async ({ profile }) => [...lint(profile), ...(await lintFiles(profile, isThere))]))
    ).flat();
    await this.#show({ findings }, ({ findings: all }, paint) => findingsText(all, paint));
    return exitCode && findings.length > 0 ? EXIT_DIFFERS : 0;
  }

  async #diff({ source, snapshot, device, exitCode }: Of<"diff">): Promise<number> {
    const plans = await this.#plansOf(source, snapshot, device);
    const diffs = plans.map(diffOf);
    await this.#show(oneOrAll(diffs, "diffs"), (_value, paint) =>
      diffs.map((diff) => diffText(diff, paint)).join("\n"),
    );
    return exitCode && diffs.some(({ hasChanges }) => hasChanges) ? EXIT_DIFFERS : 0;
  }

  async #plan({ source, snapshot, device, format }: Of<"plan">): Promise<number> {
    const plans = await this.#plansOf(source, snapshot, device);
    const { stdout } = this.#context.io;
    const form = format ?? (this.#isMachine ? "json" : "text");
    if (form === "json") return this.#json(oneOrAll(plans, "plans"));
    await write(stdout, plans.map((plan) => explainPlan(plan, form)).join("\n"));
    return 0;
  }

  async #verify({ source, device, exitCode }: Of<"verify">): Promise<number> {
    const composed = await this.#sources.profiles(source, () => this.#machine.leased());
    const { reader } = this.#machine;
    const inventory = await reader.inventory(this.#signal);
    const verified = await inTurn(composed, async ({ profile }) => {
      const udid = device ?? requireDevice(resolveTarget(profile.target, inventory, profile.apiVersion));
      const snapshot = await reader.snapshot(readRequestFor(profile, udid, this.#signal));
      const bundles = await readBundles(profile);
      return { targetUDID: udid, fields: verifyState(profile, snapshot, { inventory, bundles }) };
    });
    await this.#show(oneOrAll(verified, "targets"), (_value, paint) =>
      verified.map((one) => verdictsText(one, paint)).join("\n"),
    );
    return exitCode && verified.some(({ fields }) => fields.some(isOpen)) ? EXIT_DIFFERS : 0;
  }

  async #apply({ plan: file, confirm, report: path, allowStale }: Of<"apply">): Promise<number> {
    const document = await this.#sources.document(file, "--plan");
    const plans = plansIn(document);
    const reports = await inTurn(plans, async (plan) =>
      this.#machine.apply({
        plan,
        confirm,
        allowStale,
        signal: this.#signal,
        onProgress: (progress) => this.#tell(progress),
      }),
    );
    return this.#answer(reports, path);
  }

  async #recover({ journal, how, confirm, report: path }: Of<"recover">): Promise<number> {
    const report = await this.#machine.recover({
      journal,
      how,
      confirm,
      signal: this.#signal,
      onProgress: (progress) => this.#tell(progress),
    });
    return this.#answer([report], path);
  }

  async #answer(reports: readonly ExecutionReport[], path: string | undefined): Promise<number> {
    const answer = oneOrAll(reports, "reports");
    // Printed even where the file can't be written: what was done to the device must not be lost.
    await this.#show(answer, (_value, paint) => reports.map((report) => reportText(report, paint)).join("\n"));
    if (path !== undefined) await writeReport(resolve(this.#context.io.cwd, path), answer);
    if (!reports.some(({ status }) => status === "failed")) return 0;
    return EXIT_APPLY_FAILED[this.#invocation.dropIn ? "dropIn" : "simlock"];
  }

  async #plansOf(source: Of<"plan">["source"], saved: string | undefined, device: string | undefined) {
    // A saved snapshot needs no device and no daemon.
    const composed = await this.#sources.profiles(
      source,
      saved === undefined ? () => this.#machine.leased() : undefined,
    );
    if (saved !== undefined) {
      const snapshot = await this.#sources.snapshot(saved);
      return inTurn(composed, async ({ profile }) =>
        planState(profile, snapshot, { bundles: await readBundles(profile) }),
      );
    }
    return inTurn(composed, async (one) => this.#planLive(one, device));
  }

  async #planLive({ profile }: Composed, device: string | undefined): Promise<Plan> {
    const { reader } = this.#machine;
    const [inventory, bundles] = await Promise.all([reader.inventory(this.#signal), readBundles(profile)]);
    if (device !== undefined) return planState(profile, await this.#read(profile, device), { inventory, bundles });
    const target = resolveTarget(profile.target, inventory, profile.apiVersion);
    if (target.kind === "create") return planNewDevice(profile, target.intent, { inventory, bundles });
    return planState(profile, await this.#read(profile, target.device.udid), { inventory, bundles });
  }

  async #read(profile: Composed["profile"], udid: string): Promise<Snapshot> {
    return this.#machine.reader.snapshot(readRequestFor(profile, udid, this.#signal));
  }

  async #snapshotOf({ device, domains, pasteboard }: Pick<Of<"snapshot">, "device" | "domains" | "pasteboard">) {
    const udid = device ?? (await this.#machine.leased())?.device.driverDeviceId;
    if (udid === undefined) {
      throw new SimlockError("USAGE", "No simulator was named, and you have leased none.", {
        hint: "Name one with --device: `simlock state inventory` lists them.",
      });
    }
    return this.#machine.reader.snapshot({ udid, domains, pasteboard, signal: this.#signal });
  }

  get #isMachine(): boolean {
    return this.#context.json || this.#invocation.dropIn || this.#context.io.stdout.isTTY !== true;
  }

  async #show<T>(value: T, text: (value: T, paint: Paint) => string): Promise<number> {
    if (this.#isMachine) return this.#json(value);
    await writeLine(this.#context.io.stdout, text(value, this.#paint).trimEnd());
    return 0;
  }

  async #json(value: unknown): Promise<number> {
    await writeLine(this.#context.io.stdout, JSON.stringify(value, undefined, this.#invocation.compact ? 0 : 2));
    return 0;
  }

  /** Progress is for people: where nobody looks, the report says it all. */
  #tell({ operationID, position, total, outcome }: StateProgress): void {
    const { stderr, env } = this.#context.io;
    if (stderr.isTTY !== true) return;
    const line = `${position}/${total} ${operationID}${outcome === undefined ? " …" : `: ${outcome}`}`;
    void writeLine(stderr, paintFor(stderr, env)("gray", line)).catch(() => {});
  }
}

/** The one, where there is one; several under a name. */
function oneOrAll(all: readonly unknown[], name: string): unknown {
  return all.length === 1 ? all[0] : { [name]: all };
}

/** What `plan` printed: one plan, or several under `plans`. Whether they are plans at all, the apply judges. */
function plansIn(document: unknown): readonly unknown[] {
  const several = typeof document === "object" && document !== null ? Reflect.get(document, "plans") : undefined;
  return Array.isArray(several) ? several : [document];
}

function requireDevice(target: ReturnType<typeof resolveTarget>): string {
  if (target.kind === "device") return target.device.udid;
  throw new SimlockError("UNKNOWN_DEVICE", "The simulator of the profile is not there yet.", {
    hint: "Plan and apply the profile first: that makes it.",
  });
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** In one step, so that a reader never sees half of it. */
async function writeReport(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
