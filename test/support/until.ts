/** Waits for a fact that another process brings about, for at most a minute. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
