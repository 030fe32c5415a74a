interface VerbHelp {
  readonly what: string;
  readonly form: string;
}

/** What each verb does and the form of its operands, for `help` and for usage errors. */
export const VERB_HELP: Readonly<Record<string, VerbHelp>> = {
  addmedia: { what: "Add photos, videos or contacts to a device.", form: "<device> <path> [... <path>]" },
  appinfo: { what: "Show what is known of an installed app.", form: "<device> <app bundle identifier>" },
  boot: {
    what: "Boot a device or a device pair.",
    form: "<device> [--arch=<arch>] [--disabledJob=<job>] [--enabledJob=<job>]",
  },
  bootstatus: { what: "Follow a boot until the device can be used.", form: "<device> [-bcd]" },
  clone: { what: "Copy a device.", form: "<device> <new name> [<destination device set>]" },
  create: { what: "Make a device.", form: "<name> <device type id> [<runtime id>]" },
  delete: { what: "Delete devices.", form: "<device> [... <device n>] | unavailable | all" },
  diagnose: { what: "Collect diagnostics of the host.", form: "[-b] [-X] [-l] [--output=<path>]" },
  erase: { what: "Erase a device's contents and settings.", form: "<device> [... <device n>] | all" },
  get_app_container: {
    what: "Print the path of an app's container.",
    form: "<device> <app bundle identifier> [app | data | groups | <group identifier>]",
  },
  getenv: { what: "Print a variable of a running device.", form: "<device> <variable name>" },
  help: { what: "Show this, or a subcommand's usage.", form: "[subcommand]" },
  icloud_sync: { what: "Start an iCloud sync.", form: "<device>" },
  install: { what: "Install an app.", form: "<device> <path>" },
  install_app_data: { what: "Install an xcappdata package.", form: "<device> <path>" },
  io: {
    what: "Screenshots, recordings, ports.",
    form: "<device> enumerate | poll | screenshot [--type=<type>] [--display=<display>] [--mask=<policy>] <file> | recordVideo [--codec=<codec>] [--display=<display>] [--mask=<policy>] [--force] <file>",
  },
  keychain: { what: "Change a device's keychain.", form: "<device> add-root-cert <path> | add-cert <path> | reset" },
  launch: {
    what: "Launch an app.",
    form: "[-w | --wait-for-debugger] [--console | --console-pty] [--stdout=<path>] [--stderr=<path>] [--terminate-running-process] <device> <app bundle identifier> [<argv 1> ... <argv n>]",
  },
  list: {
    what: "List devices, device types, runtimes, pairs.",
    form: "[-j | --json] [-e | --no-escape-slashes] [-v] [devices | devicetypes | runtimes | pairs] [<search term> | available]",
  },
  listapps: { what: "List the installed apps.", form: "[-j | --json] <device>" },
  location: {
    what: "Set a device's place.",
    form: "<device> list | clear | set <lat>,<lon> | run <scenario> | start [--speed=<m/s>] [--distance=<m> | --interval=<s>] <lat>,<lon> <lat>,<lon> [...]",
  },
  logverbose: { what: "Switch verbose logging.", form: "[<device>] enable | disable" },
  openurl: { what: "Open a URL in a device.", form: "<device> <URL>" },
  pair: { what: "Make a pair of a watch and a phone.", form: "<watch device> <phone device>" },
  pair_activate: { what: "Make a pair the active one.", form: "<pair UUID>" },
  pbcopy: { what: "Copy standard input onto a device's pasteboard.", form: "[-v] <device>" },
  pbinfo: { what: "Say what is on a device's pasteboard.", form: "[-v] <device>" },
  pbpaste: { what: "Print a device's pasteboard.", form: "[-v] <device>" },
  pbsync: { what: "Copy one pasteboard to another.", form: "[-v] <source device> <destination device>" },
  privacy: {
    what: "Grant, revoke or reset a permission.",
    form: "<device> grant | revoke | reset <service> [<bundle identifier>]",
  },
  push: { what: "Send a push notification.", form: "<device> [<bundle identifier>] (<json file> | -)" },
  rename: { what: "Rename a device.", form: "<device> <name>" },
  runtime: { what: "Look at the installed runtimes.", form: "list [-j] [-v] | match list [-j] [-v]" },
  shutdown: { what: "Shut a device down.", form: "<device> | all" },
  spawn: {
    what: "Run a program in a device.",
    form: "[-w | --wait-for-debugger] [-s | --standalone] [-a <arch> | --arch=<arch>] <device> <path to executable> [<argv 1> ... <argv n>]",
  },
  status_bar: {
    what: "Override the status bar.",
    form: "<device> list | clear | override [--time <string>] [--dataNetwork <type>] [--wifiMode <mode>] [--wifiBars <0-3>] [--cellularMode <mode>] [--cellularBars <0-4>] [--operatorName <string>] [--batteryState <state>] [--batteryLevel <0-100>]",
  },
  terminate: { what: "End an app.", form: "<device> <app bundle identifier>" },
  ui: {
    what: "Read or set appearance and sizes.",
    form: "<device> appearance [light | dark] | increase_contrast [enabled | disabled] | content_size [<size> | increment | decrement]",
  },
  uninstall: { what: "Uninstall an app.", form: "<device> <app bundle identifier>" },
  unpair: { what: "Take a pair apart.", form: "<pair UUID>" },
  upgrade: { what: "Move a device to a newer runtime.", form: "<device> <runtime id>" },
};
