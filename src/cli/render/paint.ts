import { styleText } from "node:util";

type Colour = "red" | "green" | "yellow" | "cyan" | "gray" | "bold";
export type Paint = (colour: Colour, text: string) => string;

/** Colours where a person looks: on a terminal, unless NO_COLOR (https://no-color.org) or a dumb terminal says otherwise. */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const on = stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  return on ? (colour, text) => styleText(colour, text, { validateStream: false }) : plain;
}

export const plain: Paint = (_colour, text) => text;
