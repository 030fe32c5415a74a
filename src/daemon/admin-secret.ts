import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { unlinkSync } from "node:fs";
import { isMissing, writeWhole } from "./files.ts";

/** The right to run this machine, made anew at each start: whoever can read the owner's files has it, and only the hash stays in memory. */
export interface AdminSecret {
  verify(credential: string): boolean;
  remove(): void;
}

const hash = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/** Makes the secret and puts it into its file, for the owner only. Call it only with the claim in hand. */
export function createAdminSecret(path: string): AdminSecret {
  const secret = `slk_${randomBytes(32).toString("base64url")}`;
  const expected = hash(secret);
  writeWhole(path, `${secret}\n`, 0o600);
  return {
    verify: (credential) => timingSafeEqual(hash(credential.trim()), expected),
    remove() {
      try {
        unlinkSync(path);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}
