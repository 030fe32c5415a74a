import fc from "fast-check";

export interface Names {
  /** The leased device's serial. */
  readonly own: string;
  readonly other: string;
  readonly serverPort: number;
  /** LOCAL of a forward of the other device. */
  readonly othersForward: string;
}

/**
 * adb command lines: some that an agent would write, some that look for a way round, and some of random words. Paths on the host are only ever
 * those of the working directory.
 */
export function adbCommandLine(names: Names): fc.Arbitrary<string[]> {
  const { own, other, serverPort, othersForward } = names;
  const one = (...lines: readonly (readonly string[])[]): fc.Arbitrary<string[]> =>
    fc.constantFrom(...lines.map((line) => [...line]));
  const port = fc.integer({ min: 1, max: 65_535 }).map((number) => `tcp:${number}`);

  const goodGlobal = one([], [], [], ["-s", own], ["-s", own, "-s", own]);
  const badGlobal = one(
    ["-s", other],
    [`-s${other}`],
    ["-s", own, "-s", other],
    ["-s", ""],
    ["-s", other.split(":")[0] ?? other],
    ["-t", "1"],
    ["-t2"],
    ["-t", " 2"],
    ["-t", "0"],
    ["-d"],
    ["-e"],
    ["-a"],
    ["-H", "127.0.0.1"],
    ["-P", String(serverPort)],
    [`-P${serverPort}`],
    ["-L", `tcp:127.0.0.1:${serverPort + 1}`],
    ["nodaemon", "-s", other],
    ["server"],
    ["fork-server"],
    ["--reply-fd", "2", "-s", other],
    ["--one-device", other],
    ["--"],
    [""],
  );

  const word = fc.oneof(
    fc.constantFrom(
      "echo",
      "a  b",
      "$X",
      "'q'",
      '"',
      "\\",
      ";",
      "&&",
      "|",
      "x=1",
      "ls",
      "id",
      "-s",
      other,
      "--",
      "\t",
      "é😀",
    ),
    fc.string({ maxLength: 8 }).map((text) => text.replaceAll("\0", "").replaceAll("/", "")),
  );
  const script = fc.constantFrom(
    ...[
      "true",
      "echo hi",
      "exit 7",
      "echo out; echo err >&2",
      "getprop ro.serialno",
      "pm list packages",
      "ps -A",
      "cat",
    ],
    ...[
      "ls -la /data/local/tmp",
      "id; whoami",
      "sleep 0.05",
      "am start -n a/b",
      "settings list global",
      "input tap 1 1",
    ],
    `echo -s ${other}`,
    `getprop | head -n 2; adb -s ${other} shell true`,
  );
  const shell = fc.oneof(
    script.map((line) => ["shell", line]),
    fc.array(word, { maxLength: 4 }).map((words) => ["shell", "echo", ...words]),
    one(
      ["shell"],
      ["shell", ""],
      ["shell", "-T"],
      ["shell", "-x", "true"],
      ["shell", "-tt", "true"],
      ["shell", "-n", "id"],
    ),
    one(
      ["shell", "-e", "none", "true"],
      ["shell", "--", "true"],
      ["shell", " "],
      ["shell", "-Tx", "echo", "-s", other],
    ),
    script.map((line) => ["exec-out", ...line.split(" ")]),
    one(["exec-out", ""], ["exec-in", "cat"], ["exec-in", ""], ["exec-out", "a b", "c d"]),
  );

  const hostFile = fc.constantFrom("file.txt", "app.apk", "./file.txt", "none", "file.txt", "sub/none", "");
  const deviceFile = fc.constantFrom(
    "/data/local/tmp/x",
    "/data/local/tmp/",
    "/sdcard/y",
    "/none/z",
    "/system/build.prop",
    "",
  );
  const files = fc.oneof(
    fc
      .tuple(one(["push"], ["push", "--sync"], ["push", "-p"], ["push", "-zany"]), hostFile, deviceFile)
      .map(([verb, a, b]) => [...verb, a, b]),
    fc
      .tuple(one(["pull"], ["pull", "-a"]), deviceFile, fc.constantFrom("out.txt", "./out2", "none/out"))
      .map(([verb, a, b]) => [...verb, a, b]),
    deviceFile.map((path) => ["ls", path]),
    one(["push"], ["pull"], ["push", "file.txt"], ["sync"], ["pull", "-"], ["push", "-", "/data/local/tmp/x"]),
  );

  const packages = one(
    ["install", "--no-streaming", "app.apk"],
    ["install", "--no-streaming", "-r", "-t", "app.apk"],
    ["install", "--streaming", "app.apk"],
    ["install", "--fastdeploy", "app.apk"],
    ["install", "--local-agent", "app.apk"],
    ["install", "-s", other, "app.apk"],
    ["install", "app.apk", "none.apk"],
    ["install-multiple", "--no-streaming", "app.apk"],
    ["install-multi-package", "app.apk:app.apk"],
    ["uninstall", "com.example.fuzz"],
    ["uninstall", "-k", "com.example.fuzz"],
    ["uninstall"],
  );

  const forwards = fc.oneof(
    fc.tuple(port, port).map(([local, remote]) => ["forward", local, remote]),
    fc.tuple(port, port).map(([local, remote]) => ["reverse", local, remote]),
    fc.tuple(port, port).map(([local, remote]) => ["forward", "--no-rebind", local, remote]),
    one(
      ["forward", "tcp:0", "tcp:1"],
      ["forward", othersForward, "tcp:1"],
      ["forward", "--remove", othersForward],
      ["forward", "--remove", "tcp:1"],
      ["forward", "--remove-all"],
      ["forward", "--list"],
      ["forward", "--no-rebind", othersForward, "tcp:1"],
      ["forward", "localabstract:simlock-fuzz", "tcp:1"],
      ["forward", "localfilesystem:sock", "tcp:1"],
      ["forward", "acceptfd:3", "tcp:1"],
      ["forward", "tcp:0"],
      ["reverse", "--list"],
      ["reverse", "--remove-all"],
      ["reverse", "--remove", "tcp:9"],
      ["reverse", "tcp:9", `tcp:${serverPort}`],
      ["reverse", "localabstract:x", "tcp:20000"],
      ["reverse", "tcp:9", "localfilesystem:/run/x"],
    ),
  );

  const plain = one(
    ["get-state"],
    ["get-serialno"],
    ["get-devpath"],
    ["features"],
    ["host-features"],
    ["devices"],
    ["devices", "-l"],
    ["version"],
    ["--version"],
    ["help"],
    ["/?"],
    [],
    ["logcat", "-d"],
    ["logcat", "-c"],
    ["lolcat", "-d"],
    ["longcat", "-d", "-s", other],
    ["logcat"],
    ["jdwp"],
    ["bugreport", "report.zip"],
    ["backup", "-f", "backup.ab", "-all"],
    ["restore", "file.txt"],
    ["abb", "package", "list"],
    ["transport-id"],
  );

  const lifecycle = one(
    ["kill-server"],
    ["start-server"],
    ["server-status"],
    ["connect", other],
    ["disconnect"],
    ["disconnect", other],
    ["disconnect", own],
    ["reconnect"],
    ["reconnect", "device"],
    ["reconnect", "offline"],
    ["pair", other, "123456"],
    ["track-devices"],
    ["mdns", "services"],
    ["attach"],
    ["detach", other],
    ["raw", "host:kill"],
    ["raw", `host:transport:${other}`],
    ["inc-server"],
    ["ppp", "tcp:1"],
    ["keygen", "key"],
    ["pubkey", "key"],
    ["root"],
    ["unroot"],
    ["remount"],
    ["tcpip", "5555"],
    ["usb"],
    ["reboot"],
    ["reboot-bootloader"],
    ["reboot-fastboot"],
    ["sideload", "file.txt"],
    ["rescue", "getprop", "x"],
    ["disable-verity"],
    ["emu", "kill"],
    ["emu", "help\nkill"],
    ["emu", "avd", "stop"],
    ["shell", "reboot"],
  );

  const command = fc.oneof(
    { weight: 5, arbitrary: shell },
    { weight: 3, arbitrary: files },
    { weight: 2, arbitrary: packages },
    { weight: 3, arbitrary: forwards },
    { weight: 3, arbitrary: plain },
    { weight: 3, arbitrary: lifecycle },
    { weight: 1, arbitrary: fc.array(word, { maxLength: 5 }) },
  );
  const waiting = fc.tuple(
    one(["wait-for-device"], ["wait-for-usb-device"], ["wait-for-any-device"], ["wait-for-disconnect"]),
    command,
  );
  const line = fc.oneof(
    { weight: 8, arbitrary: command },
    { weight: 2, arbitrary: waiting.map(([wait, then]) => [...wait, ...then]) },
    // A stray word somewhere.
    {
      weight: 1,
      arbitrary: fc.tuple(command, word, fc.nat({ max: 6 })).map(([words, stray, at]) => words.toSpliced(at, 0, stray)),
    },
  );
  const global = fc.oneof({ weight: 4, arbitrary: goodGlobal }, { weight: 1, arbitrary: badGlobal });
  return fc.tuple(global, line).map(([before, rest]) => [...before, ...rest]);
}
