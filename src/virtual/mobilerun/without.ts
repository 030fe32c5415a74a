/** An object but for some of its fields: what is kept inside and not told. */
export function without<T extends object, K extends keyof T>(object: T, ...names: readonly K[]): Omit<T, K> {
  const kept = Object.entries(object).filter(([name]) => !names.includes(name as K));
  return Object.fromEntries(kept) as Omit<T, K>;
}
