import type { LookedUp } from "../../app/typed.ts";
import type { Located } from "../ask.ts";
import { countryOf } from "../label/meaning.ts";
import type { Pasted } from "../read-pasted.ts";
import { bitsOf, chosenOf, type Reader, type Reading } from "../reader.ts";
import { problemStatus, problemWords, refusalOf, refusalWords } from "../verdict/refusals.ts";
import type { Row } from "./sheet.ts";

/** Rows of a list, each read when it is first shown. Pure. */

export interface ListRow {
  readonly what: string;
  readonly country: string;
  /** `2026-11-26 21:27:25`. */
  readonly minted: string;
  /** The verdict, as one chip. */
  readonly kind: LookedUp["kind"];
  readonly code: string;
  readonly note: string;
  /** For the file: in words where the ID alone says it, else a slug. */
  readonly problem: string;
}

/** In the file of a list. */
export const COLUMNS = ["Entity", "Country", "Minted (UTC)", "Region", "Problem"];

export const cellsOf = ({ what, country, minted, kind, code, problem }: ListRow): Row => [
  what,
  country,
  minted,
  kind === "goes" ? code : "",
  problem,
];

/** The IDs of one chip: a region, a status, what is no ID, and what only the gateway knows. */
export const groupOf = ({ kind, code }: Pick<ListRow, "kind" | "code">): string =>
  kind === "goes" ? `to ${code}` : kind === "refused" ? code : kind;

export interface Rows {
  readonly count: number;
  at(index: number): ListRow;
}

export function rowsOf(items: readonly Pasted[], reader: Reader, nowMs: number): Rows {
  const known: (ListRow | undefined)[] = [];
  return {
    count: items.length,
    at: (index) => {
      known[index] ??= readRow(items[index] as Pasted, reader, nowMs);
      return known[index] as ListRow;
    },
  };
}

/** The gateway's answer replaces the page's own reading. */
export const withLocated = (rows: Rows, located: readonly Located[]): Rows => ({
  count: rows.count,
  at: (index) => {
    const own = located[index];
    return own === undefined ? rows.at(index) : { ...rows.at(index), ...locatedRow(own, rows.at(index)) };
  },
});

function locatedRow({ region, problem }: Located, { note, code, kind }: ListRow): Partial<ListRow> {
  if (region !== "")
    return { kind: "goes", code: region, problem: "", note: kind === "goes" && code === region ? note : "" };
  const status = problemStatus(problem);
  const isNone = problem === "malformed-id" || problem === "unknown-id";
  return {
    kind: isNone ? "reads-as" : "refused",
    code: isNone ? "" : String(status ?? "refused"),
    // The same words before and after.
    problem: refusalOf(problem) ?? problem,
    note: problemWords(problem) ?? problem,
  };
}

function readRow(pasted: Pasted, reader: Reader, nowMs: number): ListRow {
  const reading = reader.read(pasted, nowMs);
  const chosen = chosenOf(reading);
  const words = chosen && bitsOf(reader, chosen, pasted.id).words;
  const what = chosen?.entity ?? chosen?.layout ?? (reading.publicOf === undefined ? "unknown" : "public ID");
  const reason = reading.error?.reason;
  return {
    what,
    country: (chosen && countryOf(reader, chosen, words)?.name) ?? "",
    minted: chosen?.mintedAt?.slice(0, 19).replace("T", " ") ?? "",
    problem: refusalOf(reason, reading.isUnsure) ?? "",
    ...verdictOf(reading, reader, chosen?.entity !== undefined || reading.publicOf !== undefined),
  };
}

function verdictOf(reading: Reading, reader: Reader, isOfTable: boolean): Pick<ListRow, "kind" | "code" | "note"> {
  const { decision, error, isUnsure } = reading;
  if (decision !== undefined) return { kind: "goes", code: decision.region, note: noteOf(decision) };
  const words = refusalWords(error?.reason);
  if (words !== undefined && isUnsure !== true)
    return { kind: "refused", code: String(problemStatus(error?.reason ?? "")), note: words };
  if (words !== undefined) return { kind: "open", code: "", note: `${words}, unless the table names it` };
  if (isOfTable || reader.knows === "nothing") return { kind: "open", code: "", note: "" };
  return { kind: "reads-as", code: "", note: "" };
}

function noteOf({ rule, move }: NonNullable<Reading["decision"]>): string {
  if (rule.kind === "moving") return move === undefined ? "Moving" : `Moving to ${move.to}`;
  return rule.kind === "moved" ? "Moved" : rule.kind === "canary" ? "Canary of its route" : "";
}
