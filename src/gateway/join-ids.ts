import { type Layout, uuidText } from "../ids/index.ts";
import { type WordRows, wordsIn } from "../ids/mint/mint.ts";
import { UUID_TEXT_LENGTH, writeUuid } from "../ids/text/uuid.ts";

/** Minted IDs in a row: words of the layout, or texts. */
export type Run = WordRows | readonly string[];

/** The texts before, between and after them. */
export interface Delimiters {
  readonly before: string;
  /** ASCII. */
  readonly separator: string;
  readonly after: string;
}

/** So many strings are little garbage; more of them take longer to collect than to write. */
const AS_STRINGS_MAX = 32;

const UUID_WORDS = 4;

/** Where bodies are written before their length is known. One for all requests, since nothing waits while it is in use. */
let scratch = new Uint8Array(0);
const encoder = new TextEncoder();

/** The body of a response with all of them. */
export function joinIds(
  layout: Layout,
  runs: readonly Run[],
  count: number,
  delimiters: Delimiters,
): string | Uint8Array<ArrayBuffer> {
  if (count > AS_STRINGS_MAX && layout.table.text === uuidText && runs.every(isRows))
    return writeUuids(runs, count, delimiters);
  return delimiters.before + textsOf(layout, runs).join(delimiters.separator) + delimiters.after;
}

export const textsOf = ({ format, fixed }: Layout, runs: readonly Run[]): readonly string[] =>
  runs.flatMap((run) => (isRows(run) ? wordsIn(run, fixed.value.length).map(format) : run));

const isRows = (run: Run): run is WordRows => run instanceof Uint32Array;

function writeUuids(
  runs: readonly WordRows[],
  count: number,
  { before, separator, after }: Delimiters,
): Uint8Array<ArrayBuffer> {
  const codes = [...separator].map((character) => character.charCodeAt(0));
  // UTF-8 takes at most three bytes for each unit of UTF-16.
  const most = (before.length + after.length) * 3 + count * (UUID_TEXT_LENGTH + codes.length);
  if (scratch.length < most) scratch = new Uint8Array(most);
  const target = scratch;
  const start = encoder.encodeInto(before, target).written;
  let at = start;
  for (const run of runs) {
    for (let from = 0; from < run.length; from += UUID_WORDS) {
      if (at > start) for (let code = 0; code < codes.length; code++) target[at++] = codes[code] as number;
      writeUuid(run, from, target, at);
      at += UUID_TEXT_LENGTH;
    }
  }
  at += encoder.encodeInto(after, target.subarray(at)).written;
  // The response keeps what it is given.
  return target.slice(0, at);
}
