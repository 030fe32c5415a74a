/**
 * What a device tool inherits. Everything else stays behind: variables that pick another device or server (`ANDROID_SERIAL`, `ADB_*`), that put code
 * or libraries into what is started (`DYLD_*`, `LD_*`, `BASH_ENV`, `SIMCTL_CHILD_*`), or that choose another Xcode (`DEVELOPER_DIR`, `xcrun_*`).
 */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "LANG"] as const;

/**
 * The environment of one command: what it may inherit from `base`, its temporary folder, and the tool's own variables, which win.
 */
export function toolEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  toolEnv: Readonly<Record<string, string>>,
  { tmpdir }: { readonly tmpdir: string },
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = base[name];
    if (value !== undefined) environment[name] = value;
  }
  environment["TMPDIR"] = tmpdir;
  return { ...environment, ...toolEnv };
}
