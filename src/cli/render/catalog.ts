import { DeviceClass, type PlatformCatalog } from "../../contract/index.ts";
import type { Paint } from "./paint.ts";
import { safe } from "./table.ts";

/** What `simlock catalog` says to a person: models by class, the class's default first marked, OS versions newest first. */
export function catalogText(platforms: readonly PlatformCatalog[], paint: Paint): string {
  if (platforms.length === 0) return "Nothing can be leased here yet. `simlock doctor` says what is missing.";
  return platforms.map((platform) => platformLines(platform, paint).join("\n")).join("\n\n");
}

function platformLines(catalog: PlatformCatalog, paint: Paint): string[] {
  const lines = [paint("bold", catalog.platform)];
  if (catalog.models.length === 0) return [...lines, "  Nothing to lease. `simlock doctor` says what is missing."];
  const runtimes = catalog.runtimes.map((runtime) =>
    runtime === catalog.defaultRuntime ? `${safe(runtime)} (default)` : safe(runtime),
  );
  // A platform that has attached devices only has no OS versions to choose from.
  if (runtimes.length > 0) lines.push(`  OS versions: ${runtimes.join(", ")}`);
  for (const [name, models] of byClass(catalog)) {
    lines.push(`  ${name}:`);
    const width = Math.max(...models.map((model) => model.length));
    for (const model of models)
      lines.push(`    ${safe(model).padEnd(width)}  ${paint("gray", modelNotes(catalog, name, model))}`.trimEnd());
  }
  for (const image of catalog.images ?? [])
    lines.push(`  image ${safe(image.runtime)} ${safe(image.tag)} ${safe(image.abi)}`);
  return lines;
}

function byClass(catalog: PlatformCatalog): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const model of catalog.models) {
    const name = catalog.modelClasses[model] ?? "other";
    groups.set(name, [...(groups.get(name) ?? []), model]);
  }
  const order = [...DeviceClass.options, "other"];
  return [...groups].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
}

function modelNotes(catalog: PlatformCatalog, deviceClass: string, model: string): string {
  const paired = catalog.modelRuntimes[model];
  const everything = paired !== undefined && paired.length === catalog.runtimes.length;
  const known = DeviceClass.safeParse(deviceClass);
  return [
    known.success && catalog.classDefaults[known.data] === model ? `the default ${deviceClass}` : undefined,
    catalog.attachedModels?.includes(model) === true ? "attached, enrolled" : undefined,
    paired === undefined || everything || paired.length === 0 ? undefined : `on ${paired.map(safe).join(", ")}`,
  ]
    .filter((note) => note !== undefined)
    .join("; ");
}
