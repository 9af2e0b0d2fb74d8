/** Problems that an ID alone can get: their status, and the words of the page. A test holds them beside the catalogue. */
const REFUSALS: Readonly<Record<string, readonly [status: number, words: string]>> = {
  "malformed-id": [400, "This is no ID of the table"],
  "unknown-id": [404, "No entity has this ID"],
  "unassigned-key": [404, "No route takes this ID"],
  "unknown-key": [404, "The directory has no such key"],
  "ambiguous-id": [409, "The ID can be several things"],
  "entity-gone": [410, "It is gone"],
  "wrong-entity": [422, "It is an ID of another entity"],
  "layout-mismatch": [422, "The path is for another layout"],
};

export const REFUSAL_SLUGS = Object.keys(REFUSALS);

const entryOf = (slug: string) => (Object.hasOwn(REFUSALS, slug) ? REFUSALS[slug] : undefined);

export const problemStatus = (slug: string): number | undefined => entryOf(slug)?.[0];

/** The words of those that decide without the gateway. */
const CERTAIN: ReadonlySet<string> = new Set(["unassigned-key", "entity-gone", "wrong-entity"]);

/** Requests with such an ID are refused, and the ID alone says so. */
export const refusalWords = (slug: string | undefined): string | undefined =>
  slug !== undefined && CERTAIN.has(slug) ? entryOf(slug)?.[1] : undefined;

/** Any of them, where the gateway said it. */
export const problemWords = (slug: string): string | undefined => entryOf(slug)?.[1];

/** `Requests get 404: no route takes this ID.`, in lists and files. `isUnsure`: unless the table says more of this very ID. */
export function refusalOf(slug: string | undefined, isUnsure = false): string | undefined {
  const words = refusalWords(slug);
  if (slug === undefined || words === undefined) return undefined;
  const told = words.slice(0, 1).toLowerCase() + words.slice(1);
  return isUnsure
    ? `Requests could get ${problemStatus(slug)}: ${told}, but the table may name it itself.`
    : `Requests get ${problemStatus(slug)}: ${told}.`;
}
