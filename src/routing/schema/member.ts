/**
 * A member that some feature adds to a part of a declared table, as it stands there. A rule about it holds whether or not the
 * build has the feature: without it no checked table has the member.
 */
export const memberOf = (part: object, name: string): unknown =>
  Object.hasOwn(part, name) ? (part as Readonly<Record<string, unknown>>)[name] : undefined;

export const hasMember = (part: object, name: string): boolean => memberOf(part, name) !== undefined;
