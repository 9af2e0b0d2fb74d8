/** An entity's ID as a caller writes it: in rows, claims and answers of origins. */

/** In UTF-16 units. */
const OWNER_LENGTH_MAX = 512;

/** `undefined` for an owner. */
export function ownerFault(text: string): string | undefined {
  if (text === "") return "Its owner is empty.";
  if (text.length > OWNER_LENGTH_MAX) return `Its owner has more than ${OWNER_LENGTH_MAX} characters.`;
  // Half a surrogate pair would be stored as U+FFFD.
  return /[\p{Cc}\p{Cs}]/u.test(text) ? "Its owner has a control character or half a surrogate pair." : undefined;
}

export function isOwner(text: string): boolean {
  return ownerFault(text) === undefined;
}
