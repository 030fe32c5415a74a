import { expect, test } from "vitest";
import { toolEnvironment } from "./environment.ts";

test("only harmless variables are inherited; the tool's own win", () => {
  const base = {
    ADB_SERVER_SOCKET: "tcp:1",
    ADB_TRACE: "all",
    ANDROID_LOG_TAGS: '"; cmd #',
    ANDROID_SERIAL: "emulator-5556",
    BASH_ENV: "/tmp/evil",
    DEVELOPER_DIR: "/tmp/evil",
    DEVICECTL_CHILD_X: "1",
    DYLD_INSERT_LIBRARIES: "/tmp/evil",
    ENV: "/tmp/evil",
    HOME: "/Users/x",
    LANG: "en_US.UTF-8",
    LD_PRELOAD: "/tmp/evil",
    LOGNAME: "x",
    PATH: "/usr/bin",
    SDKROOT: "/tmp/evil",
    SIMCTL_CHILD_DYLD_INSERT_LIBRARIES: "/tmp/evil",
    SIMLOCK_ADMIN_TOKEN: "secret",
    TERM: "xterm",
    TMPDIR: "/var/tmp",
    TOOLCHAINS: "x",
    USER: "x",
    xcrun_log: "1",
  };
  expect(toolEnvironment(base, { ANDROID_ADB_SERVER_PORT: "5038" }, { tmpdir: "/w" })).toEqual({
    ANDROID_ADB_SERVER_PORT: "5038",
    HOME: "/Users/x",
    LANG: "en_US.UTF-8",
    LOGNAME: "x",
    PATH: "/usr/bin",
    TMPDIR: "/w",
    USER: "x",
  });
  expect(toolEnvironment({ PATH: "/a" }, { PATH: "/b" }, { tmpdir: "/w" })).toEqual({ PATH: "/b", TMPDIR: "/w" });
});
