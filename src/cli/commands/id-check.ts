import { expectedOf } from "../../features/create/problems.ts";
import {
  type ClientIdClock,
  type ClientIdTolerance,
  type ClientIdWindowFault,
  clientIdWindowFault,
  err,
  isoTime,
  judgeClientId,
  type Layout,
  ok,
  type Result,
  recognise,
  type Words,
} from "../../ids/index.ts";
import { problemOf } from "../../problems/index.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { command, type OptionsOf, option } from "../command.ts";
import { parseErrorSentence } from "../lib/errors.ts";
import { duration, eachId, type IdResult, requireIds, time } from "../lib/input.ts";
import { findLayout, knownLayouts, suggestion } from "../lib/layouts.ts";
import { openTable } from "../lib/open-table.ts";
import { escapeControls, jsonText, linesText } from "../lib/output.ts";
import { fail, misuse } from "../runtime.ts";
import { couldBeSentence, onlyUntimely } from "./explain/without-table.ts";
import { ANY_TIME } from "./id-convert.ts";

const OPTIONS = [
  option("--layout <name>", "read the IDs as this layout only"),
  option("--before <duration>", "how long before the clock an ID may be made (default: 5m)", duration),
  option("--after <duration>", "how long after it (default: 1m)", duration),
  option("--now <time>", "the gateway's clock (default: this machine's)", time),
  option("--client-now <time>", "the client's own clock, which then counts", time),
  option("--skew <duration>", "how far it may differ from the gateway's (default: 24h)", duration),
  option("--table <file>", "a routing table, for its layouts and --entity"),
  option("--entity <name>", "layout and defaults are those of this entity's create.clientId"),
  option("--json", "one JSON object per line"),
] as const;
type Options = OptionsOf<typeof OPTIONS>;

const DEFAULTS = { beforeMs: 300_000, afterMs: 60_000, skewMs: 86_400_000 };

export const idCheck = command({
  name: "check",
  description: "check whether IDs that clients make are fresh, as the gateway does on creation",
  args: [["[id...]", "the IDs; - or none reads them from stdin, one per line"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill id check 019f9a5c-7a30-7000-8000-000000000001 --before 10m
  $ waybill id check --table routing-table.json --entity order --json < ids.txt
  $ waybill id check --layout short-prefix-comb --now 2026-12-11T13:52:00Z 0003c1d2-7a30-4005-8040-8f3b2a1c9d77

Both ends of a tolerance are inclusive. Durations: 500ms, 90s, 5m, 24h, 7d.
Exit code: 0 if every ID is fresh, otherwise 1.`,
  run: async (runtime, args, options) => {
    requireIds(args, runtime);
    const rules = rulesOf(await openTable(options.table ?? false, runtime), options);
    if (!rules.ok) return misuse(`error: ${rules.error}\n`);
    const nowMs = options.now ?? runtime.nowMs();
    const { layouts, isNamed, tolerance, skewMs } = rules.value;
    const { clientNow } = options;
    const clock = { nowMs, clientNowMs: clientNow, clockSkewMaxMs: skewMs, ...tolerance };
    return eachId(args, runtime, (text) => {
      const read = readId(text, layouts, isNamed, nowMs);
      if (read.ok) return judge(text, read.value, clock, options);
      const { error } = read;
      if (options.json) return { data: jsonText({ text, error: { detail: error } }), report: "", failed: true };
      return { data: "", report: `error: ${error}\n`, failed: true };
    });
  },
});

interface Rules {
  readonly layouts: readonly Layout[];
  readonly isNamed: boolean;
  readonly tolerance: ClientIdTolerance;
  readonly skewMs: number;
}

/** The layouts that the options ask for, or a sentence on why no table could give them. Only a named layout has a ring: both short COMBs read the same texts. */
const rulesOf = (table: CompiledTable | undefined, options: Options): Result<Rules, string> => {
  const declared = declaredBy(table, options);
  const known = knownLayouts(table);
  const name = options.layout ?? declared?.layout;
  const named = name === undefined ? ok(undefined) : findLayout(name, known);
  if (!named.ok) return err(`${named.error} (--layout)`);
  const { beforeMs, afterMs, skewMs } = { ...DEFAULTS, ...declared };
  const tolerance = { beforeMs: options.before ?? beforeMs, afterMs: options.after ?? afterMs };
  const fault = named.value && clientIdWindowFault(named.value, tolerance);
  if (fault !== undefined) return err(faultSentence(fault));
  const layouts = (named.value === undefined ? known : [named.value]).filter(hasTime);
  return ok({ layouts, isNamed: named.value !== undefined, tolerance, skewMs: options.skew ?? skewMs });
};

/** The entity's part of the table. */
const declaredBy = (table: CompiledTable | undefined, { entity, clientNow, skew }: Options) => {
  if (entity === undefined) return undefined;
  if (table === undefined) return misuse("error: --entity needs --table.\n");
  const shown = `"${escapeControls(entity)}"`;
  if (!table.entities.has(entity)) {
    const near = suggestion(entity, [...table.entities.keys()]) || ".";
    return fail(`error: The routing table has no entity ${shown}${near}\n`);
  }
  const create = table.creates?.byEntity.get(entity);
  if (create?.clientId === undefined) {
    return fail(`error: Clients make no IDs of ${shown}: it has no create.clientId.\n`);
  }
  const { beforeMs, afterMs, clock } = create.clientId;
  if (clientNow !== undefined && clock === undefined && skew === undefined) {
    return fail(`error: The clock of a client never counts for ${shown}: it has no create.clientId.clock.\n`);
  }
  const { layout } = create;
  return { layout, beforeMs, afterMs, ...(clock === undefined ? {} : { skewMs: clock.skewMs }) };
};

const hasTime = (layout: Layout): boolean => clientIdWindowFault(layout, DEFAULTS)?.reason !== "no-time";

interface Read {
  readonly layout: Layout;
  readonly words: Words;
}

/** The only reading of a text. The error is a sentence. */
const readId = (text: string, layouts: readonly Layout[], isNamed: boolean, nowMs: number): Result<Read, string> => {
  const window = isNamed ? ANY_TIME : undefined;
  const { readings, unreadable } = recognise(
    text,
    layouts.map((layout) => ({ layout, window })),
    nowMs,
  );
  const shown = `"${escapeControls(text)}"`;
  const possible = readings.filter(({ excluded }) => !excluded);
  const [first] = possible;
  const isSame = ({ layout, words }: Read): boolean =>
    layout === first?.layout && words.every((word, index) => word === first.words[index]);
  if (first !== undefined && possible.every(isSame)) return ok(first);
  if (first !== undefined) {
    const names = [...new Set(possible.map(({ layout }) => layout.name))];
    const forms = possible.map(({ form }) => form).join(", ");
    if (isNamed) return err(`${shown} has several readings: ${forms}.`);
    return err(`${shown} can be read as ${names.join(", ")}; choose one with --layout.`);
  }
  if (isNamed) {
    const [unread] = unreadable;
    const why = readings[0]?.against[0] ?? (unread && parseErrorSentence(unread.error));
    return err(`${shown} is not a valid ${layouts[0]?.name}: ${why}.`);
  }
  const otherTimes = [...new Set(onlyUntimely(readings).map(({ layout }) => layout.name))];
  if (otherTimes.length === 0)
    return err(`${shown} is not an ID of any layout with a time.${couldBeSentence(text, nowMs)}`);
  return err(`Only its time excludes ${shown}; confirm with --layout ${otherTimes.join(" or ")}.`);
};

const judge = (
  text: string,
  { layout, words }: Read,
  clock: ClientIdClock,
  { entity = "", json }: Options,
): IdResult => {
  const judged = judgeClientId(layout, words, clock);
  const line = (verdict: string, ...rest: readonly string[]): string =>
    linesText([[escapeControls(text), verdict, layout.name, ...rest].join("  ")]);
  if (judged.ok) {
    const { mintedAtMs, ageMs, window } = judged.value;
    const mintedAt = isoTime(mintedAtMs);
    const fresh = { text, layout: layout.name, fresh: true, mintedAt, ageMs, expected: expectedOf(window) };
    const age = `${Math.abs(ageMs) / 1000} s ${ageMs < 0 ? "after" : "before"} the clock`;
    return { data: json ? jsonText(fresh) : line("fresh", `made ${mintedAt}, ${age}`), report: "", failed: false };
  }
  const { error: stale } = judged;
  if (stale.reason === "no-time") throw new Error(`${layout.name} was let through`);
  const {
    type,
    title,
    status,
    id,
    entity: of,
    ...members
  } = problemOf({
    reason: "stale-client-id",
    id: text,
    entity,
    stale,
  });
  const error = { reason: "stale-client-id", ...members };
  if (json) return { data: jsonText({ text, layout: layout.name, fresh: false, error }), report: "", failed: true };
  return { data: line(stale.reason), report: `error: ${escapeControls(members.detail)}\n`, failed: true };
};

const faultSentence = (fault: ClientIdWindowFault): string => {
  switch (fault.reason) {
    case "no-time":
      return `IDs of ${fault.layout} contain no time, so their freshness is unknown.`;
    case "too-wide":
      return `The ring of ${fault.layout} is too small: --before and --after are ${fault.sumMs / 1000} s together, at most ${fault.sumMaxMs / 1000} s.`;
    case "duration":
      throw new Error(`${fault.member} was let through`);
  }
};
