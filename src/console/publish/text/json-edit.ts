import { type Edit, editText, type JsonPath } from "../../../formats/console/edit.ts";
import { canonical } from "../../../routing/diff/key-space.ts";
import { hunksOf } from "./sequences.ts";

/** Each edit reads the whole text again; with more of them it is written again. */
const EDITS_MAX = 200;

/** The text of a value, changed to say another one. Lines that say the same stay as they are. Pure. */
export function editedTo(text: string, before: unknown, after: unknown): string {
  const edits = editsOf([], before, after);
  return edits.length > EDITS_MAX ? `${JSON.stringify(after, null, 2)}\n` : editText(text, edits);
}

/** In the order in which they can be made: in lists from behind. */
function editsOf(path: JsonPath, before: unknown, after: unknown): readonly Edit[] {
  if (canonical(before) === canonical(after)) return [];
  if (isObject(before) && isObject(after)) return memberEdits(path, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return elementEdits(path, before, after);
  return [{ path, value: after }];
}

type Members = Readonly<Record<string, unknown>>;

function memberEdits(path: JsonPath, before: Members, after: Members): readonly Edit[] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return [
    ...gone.map((name) => ({ path: [...path, name], value: undefined })),
    ...Object.entries(after).flatMap(([name, value]) =>
      Object.hasOwn(before, name) ? editsOf([...path, name], before[name], value) : [{ path: [...path, name], value }],
    ),
  ];
}

function elementEdits(path: JsonPath, before: readonly unknown[], after: readonly unknown[]): readonly Edit[] {
  const hunks = hunksOf(before.map(canonical), after.map(canonical));
  return hunks.toReversed().flatMap(({ at, end, afterAt, afterEnd }) => {
    const common = Math.min(end - at, afterEnd - afterAt);
    const edits: Edit[] = [];
    for (let step = end - 1; step >= at + common; step--) edits.push({ path: [...path, step], value: undefined });
    for (let step = common; step < afterEnd - afterAt; step++)
      edits.push({ path: [...path, at + step], value: after[afterAt + step], isInsert: true });
    for (let step = 0; step < common; step++)
      edits.push(...editsOf([...path, at + step], before[at + step], after[afterAt + step]));
    return edits;
  });
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
