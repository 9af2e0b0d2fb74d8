import type { Layout } from "../../../ids/index.ts";
import type { Candidate } from "../../../routing/index.ts";
import { pathWithId } from "../../../routing/lookup/paths.ts";
import type { DeclaredRoute } from "../../../routing/schema/table.ts";
import type { KeyedEntity, KnownTable } from "../../app/session.ts";
import { type Asked, keyPath } from "../ask.ts";
import type { StripOf } from "../label/strip.ts";
import type { Pasted } from "../read-pasted.ts";
import {
  bitsOf,
  chosenOf,
  type IdFacts,
  type Reader,
  type Reading,
  type RungInWords,
  shortKeyOwners,
} from "../reader.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

/** All that the page knows of one text, by itself or from the gateway. Pure. */

export interface IdKnown {
  readonly reading: Reading;
  /** The reading that counts; `undefined`: none, or several. */
  readonly chosen: Candidate | undefined;
  /** Its bits, and which of them decide. */
  readonly strip: StripOf | undefined;
  readonly verdict: Verdict;
  /** In place of the entity, such as `public ID`. */
  readonly title: string | undefined;
  /** The rules in their order, for those who see the table. */
  readonly ladder: readonly RungInWords[] | undefined;
  /** Set where the text is a name of something, and no verdict. */
  readonly unclear: Unclear | undefined;
  /** The table that the ladder is of. */
  readonly table: KnownTable | undefined;
}

/** Why nothing is said of a text: it fits several things, it may be part of one, or it is none. */
export type Unclear = "several" | "short-key" | "none";

interface KnownOf {
  readonly reader: Reader;
  readonly pasted: Pasted;
  readonly asked: Asked | undefined;
  /** For those who see it. */
  readonly table: KnownTable | undefined;
  readonly keyed: readonly KeyedEntity[];
  /** A canary of the table that runs now. */
  readonly canary?: { readonly revision: number; readonly words: string } | undefined;
  readonly nowMs: number;
}

export function knownOf(of: KnownOf): IdKnown {
  const { reader, pasted, asked, table: inPage, keyed, nowMs } = of;
  const reading = reader.read(pasted, nowMs);
  const decided: Reading = asked?.explanation ?? reading;
  // The explanation of the ID alone decides nothing where its path makes it another one.
  const isPlaced = asked?.whole?.region !== undefined && decided.decision === undefined;
  const chosen = (isPlaced ? undefined : chosenOf(decided)) ?? chosenOf(reading);
  const canary = asked?.explanation.tableCanary ?? asked?.whole?.tableCanary;
  // The gateway may have another revision by now.
  const isSame = asked?.revision === undefined || asked.revision === inPage?.revision;
  const table = isSame && canary?.decides !== true ? inPage : undefined;
  const keyOf = keyedOn(pasted, keyed);
  const verdict = verdictOf({ reader, reading, asked, table, chosen, keyOf });
  const bits = chosen && bitsOf(reader, chosen, pasted.id);
  const strip = bits?.layout &&
    bits.words && {
      layout: bits.layout,
      words: bits.words,
      isShort: bits.isShort,
      deciding: decidingFields(verdict.rule?.route, bits.layout),
    };
  const facts = strip && chosen?.entity !== undefined && { ...strip, entity: chosen.entity, layout: chosen.layout };
  const ladder = table && facts ? rungsOf(reader, facts, verdict, decided) : undefined;
  return {
    reading,
    chosen,
    strip,
    verdict: withDoubts(withRoutesAlone(verdict, ladder), of),
    title: titleOf(reading, asked, chosen, keyOf),
    ladder,
    unclear: unclearOf(reading, chosen, verdict, keyOf),
    table,
  };
}

function rungsOf(reader: Reader, facts: IdFacts, { rule, code, kind, problem }: Verdict, { error }: Reading) {
  // A path that is refused has no rule.
  const isRefused = problem === "unassigned-key" || problem === "entity-gone";
  if (rule === undefined && !isRefused) return undefined;
  const deciding = error?.reason === "entity-gone" ? ({ kind: "gone" } as const) : rule?.rule;
  return reader.words?.ladder({ facts, rule: deciding, region: kind === "goes" ? code : undefined });
}

/** An entity with an entry of its own: where it would be without. */
function withRoutesAlone(verdict: Verdict, ladder: readonly RungInWords[] | undefined): Verdict {
  const alone = ladder?.find(({ kind, region }) => kind === "off" && region !== undefined)?.region;
  if (alone === undefined || verdict.kind !== "goes") return verdict;
  const isSame = alone === verdict.code;
  const told = `By the routes alone it would ${isSame ? "be there too" : "be in "}`;
  const more = [{ text: ` ${told}` }, ...(isSame ? [] : [{ text: alone, isStrong: true }]), { text: "." }];
  return { ...verdict, because: [...verdict.because, ...more] };
}

/** The page has one table: another may decide about the ID, or may have been published since the gateway was asked. */
function withDoubts(verdict: Verdict, { reader, asked, canary, table }: KnownOf): Verdict {
  const isDecided = verdict.kind === "goes" || verdict.kind === "refused";
  if (asked === undefined && canary !== undefined && isDecided && reader.knows !== "nothing") {
    const doubt = `Canary ${canary.revision} decides about ${canary.words} of the IDs: ask the gateway whether about this one.`;
    return { ...verdict, state: { mood: "warn", text: "Unless the canary decides" }, more: [doubt, ...verdict.more] };
  }
  const isNewer = (table?.revision ?? 0) > (asked?.revision ?? Number.POSITIVE_INFINITY);
  if (!isNewer || asked?.explanation.tableCanary !== undefined) return verdict;
  const doubt = `Revision ${table?.revision} was published since. Ask again.`;
  return {
    ...verdict,
    state: { mood: "warn", text: `By revision ${asked?.revision}` },
    more: [doubt, ...verdict.more],
  };
}

/** Names of fields that decided with the keys: a time that the deciding route asks for, or a node. */
function decidingFields(route: DeclaredRoute | undefined, { fields }: Layout): ReadonlySet<string> {
  const { mintedFrom, mintedBefore, fields: named = {} } = route?.when ?? {};
  const isTimed = mintedFrom !== undefined || mintedBefore !== undefined;
  const times = isTimed ? fields.filter(({ role }) => role === "time").map(({ name }) => name) : [];
  return new Set([...times, ...Object.keys(named)]);
}

/** The entity on whose path a key stands. */
function keyedOn({ id, path }: Pasted, keyed: readonly KeyedEntity[]): KeyedEntity | undefined {
  if (path === undefined) return undefined;
  return keyed.find((each) =>
    [keyPath(each, id), pathWithId(each.pattern, id)].some((own) => path === own || path.startsWith(`${own}/`)),
  );
}

function titleOf(
  reading: Reading,
  asked: Asked | undefined,
  chosen: Candidate | undefined,
  keyOf: KeyedEntity | undefined,
): string | undefined {
  if (chosen !== undefined) return undefined;
  const key = asked?.keys?.find(({ entry }) => entry.ok)?.entity ?? keyOf?.entity;
  const opened = asked?.explanation.publicOf && asked.explanation.decision?.entity;
  if (opened !== undefined) return `public ID of ${opened}`;
  if (reading.publicOf !== undefined) return `public ID of ${reading.publicOf.join(" or ")}`;
  if (key !== undefined) return `key of ${key}`;
  const owner = asked?.whole?.owner;
  return owner === undefined ? undefined : `path of ${owner}`;
}

function unclearOf(
  reading: Reading,
  chosen: Candidate | undefined,
  { kind }: Verdict,
  keyOf: KeyedEntity | undefined,
): Unclear | undefined {
  const isKnown = chosen !== undefined || reading.publicOf !== undefined || keyOf !== undefined;
  if (isKnown || kind === "goes" || kind === "refused") return undefined;
  if (reading.candidates.some(({ excluded }) => !excluded)) return "several";
  return shortKeyOwners(reading).length > 0 ? "short-key" : "none";
}
