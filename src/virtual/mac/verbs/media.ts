import { closeSync, constants, copyFileSync, existsSync, mkdirSync, openSync, readSync } from "node:fs";
import { extname, join } from "node:path";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { dataOf } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { runningDevice } from "../selection.ts";

// By the first bytes, as the photo library looks at the content and not at the name.
const SIGNATURES: readonly ((head: Buffer) => boolean)[] = [
  (head) => head.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])),
  (head) => head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])),
  (head) => /^GIF8[79]a/.test(head.toString("latin1")),
  (head) => head.subarray(4, 8).toString("latin1") === "ftyp",
  (head) => ["moov", "mdat", "wide", "free"].includes(head.subarray(4, 8).toString("latin1")),
  (head) => /^(II\*\0|MM\0\*)/.test(head.toString("latin1")),
  (head) => /^RIFF....WEBP/s.test(head.toString("latin1")),
];

/** `addmedia DEVICE PATH…` copies photos and videos into the camera roll, contacts (.vcf) beside it. */
export function addmedia(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("addmedia", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "addmedia", "<device> <path> [... <path>]"));
  operand(parsed, 1, "addmedia", "<device> <path> [... <path>]");
  const paths = parsed.operands.slice(1);
  for (const path of paths) {
    if (!existsSync(path)) throw failure("noSuchFile");
    if (!isMedia(path)) throw failure("invalidMedia");
  }
  for (const path of paths) {
    const contact = extname(path).toLowerCase() === ".vcf";
    const folder = join(dataOf(call.set, udid), contact ? "Library/AddressBook" : "Media/DCIM/100APPLE");
    mkdirSync(folder, { recursive: true });
    copyAsNext(path, folder);
  }
}

function isMedia(path: string): boolean {
  const head = Buffer.alloc(16);
  const fd = openSync(path, "r");
  try {
    readSync(fd, head, 0, head.length, 0);
  } finally {
    closeSync(fd);
  }
  if (extname(path).toLowerCase() === ".vcf") return head.toString("latin1").startsWith("BEGIN:VCARD");
  return SIGNATURES.some((fits) => fits(head));
}

/** IMG_0001, IMG_0002, …: two callers at once never get the same number, as a copy over a file that is there fails. */
function copyAsNext(path: string, folder: string): void {
  for (let number = 1; ; number++) {
    const name = `IMG_${String(number).padStart(4, "0")}${extname(path).toUpperCase()}`;
    try {
      copyFileSync(path, join(folder, name), constants.COPYFILE_EXCL);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}
