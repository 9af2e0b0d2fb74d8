import { type Layout, uuidText, type Words } from "../ids/index.ts";
import { UUID_TEXT_LENGTH, writeUuid } from "../ids/text/uuid.ts";

/** Minted IDs in a row: words of the layout, or texts. */
export type Run = readonly Words[] | readonly string[];

/** What stands before, between and behind them. */
export interface Around {
  readonly before: string;
  /** ASCII. */
  readonly separator: string;
  readonly after: string;
}

/** So many strings are little garbage; more of them take longer to collect than to write. */
const AS_STRINGS_MAX = 32;

/** Where bodies are written before their length is known. One for all requests, since nothing waits while it is in use. */
let scratch = new Uint8Array(0);
const encoder = new TextEncoder();

/** The body of a response with all of them. */
export function joinIds(
  { format, table }: Layout,
  runs: readonly Run[],
  count: number,
  around: Around,
): string | Uint8Array<ArrayBuffer> {
  if (count > AS_STRINGS_MAX && table.text === uuidText && runs.every(isWords)) return writeUuids(runs, count, around);
  const texts = runs.flatMap((run) => (isWords(run) ? run.map(format) : run));
  return around.before + texts.join(around.separator) + around.after;
}

const isWords = (run: Run): run is readonly Words[] => typeof run[0] !== "string";

function writeUuids(
  runs: readonly (readonly Words[])[],
  count: number,
  { before, separator, after }: Around,
): Uint8Array<ArrayBuffer> {
  const codes = [...separator].map((character) => character.charCodeAt(0));
  // UTF-8 takes at most three bytes for each unit of UTF-16.
  const most = (before.length + after.length) * 3 + count * (UUID_TEXT_LENGTH + codes.length);
  if (scratch.length < most) scratch = new Uint8Array(most);
  const target = scratch;
  const start = encoder.encodeInto(before, target).written;
  let at = start;
  for (const run of runs) {
    for (const words of run) {
      if (at > start) for (let code = 0; code < codes.length; code++) target[at++] = codes[code] as number;
      writeUuid(words, target, at);
      at += UUID_TEXT_LENGTH;
    }
  }
  at += encoder.encodeInto(after, target.subarray(at)).written;
  // The response keeps what it is given.
  return target.slice(0, at);
}
