/** The thread in which pictures are scaled, so that nobody else waits for it. One message in, one message out, each with its number. */
import { parentPort } from "node:worker_threads";
import { scaledPicture, UnreadablePicture, type Picture } from "./scaled-picture.ts";

export interface PictureRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly maxSide: number;
  readonly maxBytes: number;
}
export type PictureAnswer =
  { readonly id: number; readonly picture: Picture } | { readonly id: number; readonly unreadable: string };

parentPort?.on("message", ({ id, bytes, maxSide, maxBytes }: PictureRequest) => {
  scaledPicture(bytes, maxSide, maxBytes).then(
    (picture) => parentPort?.postMessage({ id, picture } satisfies PictureAnswer),
    (error: unknown) => {
      const unreadable = error instanceof UnreadablePicture ? error.message : "it can't be scaled";
      parentPort?.postMessage({ id, unreadable } satisfies PictureAnswer);
    },
  );
});
