/** The entry of a name that others chose: `toString` may be the name of a region, and every object has one. */
export const ownOf = <Value>(entries: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
