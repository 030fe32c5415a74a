import { InvalidArgumentError } from "commander";

/** A number of a flag. Throws what commander reports as the flag's own error. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    }
    return value;
  };
}
