export type Members = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Members | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
