/** Where the rules are served as a resource. */
export const INSTRUCTIONS_URI = "simlock://instructions";

/**
 * The rules that an agent must follow. Clients cut what a server says of itself (one at 2,048 characters): what nobody can do without stands
 * first. At most 4,096 characters.
 */
export const instructionsText = `# Simlock: rules for agents

Simlock leases you one iOS simulator or Android device that nobody else touches. Go through its tools only.

1. Never start \`xcrun simctl\`, \`adb\`, \`devicectl\` or an emulator yourself: other agents share this machine. Use \`run_on_device\`.
2. Unsure of a model or OS version? Call \`list_devices\`; do not guess.
3. \`lease_simulator\` with \`{"platform": "ios", "model": "iPhone 17"}\`. You hold one lease at a time and it is renewed for you. The call may wait minutes in a queue. If it timed out on your side, call \`lease_status\` before you ask again.
4. \`run_on_device\` with a tool and an array of arguments, device left out: \`{"tool": "simctl", "args": ["install", "/abs/path/App.app"]}\`. No shell, no quoting, absolute host paths.
5. \`release_simulator\` as soon as you are done. The device is erased then.

Screenshot: output is text only, so write a file and read it.
- iOS: \`{"tool": "simctl", "args": ["io", "screenshot", "/tmp/shot.png"]}\`, then open /tmp/shot.png.
- Android: \`{"tool": "adb", "args": ["shell", "screencap", "-p", "/sdcard/x.png"]}\`, then \`{"tool": "adb", "args": ["pull", "/sdcard/x.png", "/tmp/x.png"]}\`, then open /tmp/x.png. Not \`exec-out\`: its bytes do not survive as text.

Errors come as \`{code, message, hint}\`. Act on the code and follow the hint:
- NO_LEASE: call \`lease_simulator\`. UNKNOWN_LEASE: yours has ended; lease anew.
- REQUESTER_ALREADY_LEASED: you hold one already. \`lease_status\` shows it: use or release it.
- NO_CAPACITY, QUEUE_TIMEOUT: every fitting device is taken. Ask again, or tell the user. Never end another agent's lease.
- PASSTHROUGH_REFUSED: the message names what was refused and the way to do it right. Do not work around it.
- EXEC_TIMEOUT: the command ran into the time limit.
A non-zero exitCode is the command's own answer, not a Simlock error.

## More

Commands that end by themselves are best:
- Logs, iOS: \`{"tool": "simctl", "args": ["spawn", "log", "show", "--last", "2m", "--style", "compact"]}\`. Android: \`{"tool": "adb", "args": ["logcat", "-d", "-t", "500"]}\`.
- Launch, iOS: \`{"tool": "simctl", "args": ["launch", "com.example.app"]}\`. Android: \`{"tool": "adb", "args": ["shell", "am", "start", "-n", "com.example.app/.MainActivity"]}\`.
- Installed apps, iOS: \`{"tool": "simctl", "args": ["listapps"]}\`. Android: \`{"tool": "adb", "args": ["shell", "pm", "list", "packages"]}\`.
- Open a link: \`{"tool": "simctl", "args": ["openurl", "https://example.com"]}\`.

There is no terminal: a bare \`adb shell\` is refused. A command that never ends (\`logcat\` without \`-d\`, \`recordVideo\`) runs until you cancel the call or the time limit stops it; a cancelled recording is closed properly.
Each stream keeps its last 32,768 characters; \`truncated\` says when some were cut. Filter on the device or write a file.
Do not boot, shut down, erase, clone or delete simulators, and do not stop an adb server: Simlock does that.
Never pass \`allowDownload\` unless the user asked for it.
For builds that need a destination, the lease names the device: \`device.address\` of \`lease_simulator\` and \`lease_status\` is the UDID or serial, \`environment\` has the variables.
If you work in a shell too, the same lease serves \`simlock simctl …\` and \`simlock adb …\` there.
`;
