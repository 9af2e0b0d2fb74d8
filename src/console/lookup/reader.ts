import type { DeclaredDirectory } from "../../features/directory/table/schema.ts";
import {
  couldBe,
  declarationOf,
  everyLayout,
  isoTime,
  type Layout,
  layoutNamed,
  recognise,
  textsOf,
  type Words,
} from "../../ids/index.ts";
import { LUUID_SHORT } from "../../routing/identity.ts";
import type { Candidate, DeclaredTable, Rule, Taken } from "../../routing/index.ts";
import { readingsOf } from "../../routing/layouts/fields.ts";
import { shortWords } from "../../routing/resolve/match.ts";
import type { Explanation } from "../../routing/resolve/resolve.ts";
import type { DeclaredRoute } from "../../routing/schema/table.ts";
import type { Part } from "../routing/condition-words.ts";
import type { IdFinder, Pasted } from "./read-pasted.ts";

/** The page's knowledge of the table. Viewers read the whole table; support only the names that reading needs. */
export interface Names extends Pick<DeclaredTable, "entities" | "countries" | "layouts"> {
  readonly directory?: Readonly<Record<string, Pick<DeclaredDirectory, "cacheSeconds">>>;
  readonly revision: number;
  /** Absent: all IDs are taken. */
  readonly taken?: Taken;
}

export type Reading = Explanation & {
  /** A part of the table that the page does not see may decide about the ID after all. */
  readonly isUnsure?: boolean;
  /** Other possible kinds, without a table; `declared`: the entry of `layouts` by which a table reads it. */
  readonly couldBe?: readonly CouldBeLine[];
};

export interface CouldBeLine {
  readonly what: string;
  readonly layout: string;
  readonly text: string;
  readonly declared: string;
}

/** Reads IDs in the page, by the code that routes at the gateway. */
export interface Reader extends IdFinder {
  /** Absent without a table. */
  readonly words?: TableWords;
  /** An ID of the table to show what the page does, and its path. */
  readonly example?: { readonly id: string; readonly path: string | undefined } | undefined;
  readonly knows: "nothing" | "names" | "routes";
  readonly revision: number | undefined;
  read(pasted: Pasted, nowMs: number): Reading;
  layout(name: string): Layout | undefined;
  /** The ISO code of a country's number. */
  country(number: string): string | undefined;
  /** The path on which an entity has a text in a layout. */
  ownPath(entity: string, layout: string, text: string): string | undefined;
  /** Parts of a layout's key, by name. */
  slices(layout: string, words: Words): readonly ReadSlice[];
}

/** Words of a table about an ID. They come with the table: the code that reads conditions is large. */
export interface TableWords {
  /** A route behind "because". `route`: as the gateway told it, for those who do not see the table. */
  sentence(index: number, route: DeclaredRoute | undefined, subject: string): readonly Part[] | undefined;
  /** The entry of a rule. `texts`: all of the ID. */
  entry(rule: Rule, texts: readonly string[]): { readonly pointer: string; readonly route: DeclaredRoute | undefined };
  /** The rules in their order; `undefined` where the page does not see them, or the rule is of another table. */
  ladder(of: LadderQuestion): readonly RungInWords[] | undefined;
}

/** An ID as routes see it. `layout`: `luuid-short` for a short key, whose words have its group and key alone. */
export interface IdFacts {
  readonly entity: string;
  readonly layout: string;
  readonly words: Words;
}

export interface LadderQuestion {
  readonly facts: IdFacts;
  /** The deciding rule; `undefined`: no rule takes the ID. */
  readonly rule: Rule | { readonly kind: "gone" } | undefined;
  /** Where it leads. */
  readonly region: string | undefined;
}

export interface RungInWords {
  /** `off`: not reached. `stop`: nothing takes the ID. */
  readonly kind: "miss" | "hit" | "off" | "stop";
  readonly text: string;
  readonly small: string;
  /** Set for a single entry. */
  readonly pointer?: string;
  readonly region?: string | undefined;
}

export interface ReadSlice {
  readonly name: string;
  readonly value: string;
  /** A UN M.49 area. */
  readonly isArea: boolean;
}

/** Without a table: every built-in layout. */
export const bareReader: Reader = {
  knows: "nothing",
  revision: undefined,
  canRead: (text) => everyLayout.some((layout) => layout.fixedBits > 0 && layout.parse(text).ok),
  onPath: () => undefined,
  layout: layoutNamed,
  country: () => undefined,
  ownPath: () => undefined,
  slices: () => [],
  read: ({ id }, nowMs) => {
    const { readings, unreadable } = recognise(
      id,
      everyLayout.map((layout) => ({ layout })),
      nowMs,
    );
    // Such as an iUID, which is a UUID of version 8 too. With a table the entities decide.
    const [best, second] = readings.filter(({ excluded }) => !excluded);
    const isMarked = best !== undefined && best.layout.fixedBits > (second?.layout.fixedBits ?? 0);
    const isWeaker = (layout: Layout): boolean => isMarked && layout !== best?.layout;
    const factsOf = (layout: Layout, words: Words) => ({
      layout: layout.name,
      fields: Object.fromEntries(layout.fields.map((field) => [field.name, field.readBig(words).toString()])),
      mintedAt: layout.mintedAtMs && isoTime(layout.mintedAtMs(words)),
      entity: undefined,
      region: undefined,
      rule: undefined,
    });
    const candidates = readings.map(({ layout, form, words, excluded, ...reasons }): Candidate => {
      return {
        ...factsOf(layout, words),
        form,
        for: reasons.for,
        against: isWeaker(layout)
          ? [...reasons.against, `${best?.layout.name} fits with more fixed bits`]
          : reasons.against,
        excluded: excluded || isWeaker(layout),
      };
    });
    const others = couldBe(id, nowMs);
    const proven = others
      .filter(({ isProven }) => isProven)
      .map(({ layout, words, what }): Candidate => {
        const reasons = [`prefix, fixed bits and time of a ${what}, which a table declares`];
        return { ...factsOf(layout, words), for: reasons, against: [], excluded: false };
      });
    const lines = others.map((found): CouldBeLine => {
      const { what, layout, words } = found;
      return { what, layout: layout.name, text: layout.format(words), declared: JSON.stringify(declarationOf(found)) };
    });
    const forms = readings
      .filter(({ excluded }) => !excluded)
      .flatMap(({ layout, words }) =>
        Object.entries(textsOf(layout, words)).map(([form, text]) => ({ layout: layout.name, form, text })),
      );
    const faults = unreadable.map(({ layout, error }) => ({ layout: layout.name, error }));
    return {
      text: id,
      candidates: [...proven, ...candidates],
      unreadable: faults,
      forms,
      decision: undefined,
      error: undefined,
      ...(lines.length > 0 && { couldBe: lines }),
    };
  },
};

/** The bits of a text in a layout; `undefined` if none of its forms reads it. */
export const wordsOf = (layout: Layout, text: string): Words | undefined => readingsOf(layout, text)[0]?.words;

/** The layout of a reading, and its bits. A short key is a part of an LUUID: its random bits are not known, and 0 here. */
export function bitsOf(reader: Reader, { layout: name, fields }: Candidate, text: string) {
  const isShort = name === LUUID_SHORT;
  const layout = reader.layout(isShort ? "luuid" : name);
  const short = isShort ? shortWords(Number(fields["group"]), Number(fields["primaryKey"])) : undefined;
  return { layout, words: short ?? (layout && wordsOf(layout, text)), isShort };
}

/** The entities of which it may be a short key. */
export const shortKeyOwners = ({ candidates }: Pick<Reading, "candidates">): readonly string[] => [
  ...new Set(candidates.flatMap(({ layout, entity = "" }) => (layout === LUUID_SHORT ? [entity] : []))),
];

/** The reading to show first: the one that decides, or the only one that is left. */
export function chosenOf({ candidates, decision }: Pick<Reading, "candidates" | "decision">): Candidate | undefined {
  const left = candidates.filter(({ excluded }) => !excluded);
  if (decision === undefined) return left.length === 1 ? left[0] : undefined;
  return left.find(({ layout, entity }) => layout === decision.layout && entity === decision.entity);
}

const readAs = (reading: Reading): string => {
  const chosen = chosenOf(reading);
  const left = chosen === undefined ? reading.candidates.filter(({ excluded }) => !excluded) : [chosen];
  return left.map(({ layout, entity = "" }) => `${layout} ${entity}`).join();
};

/** Whether an ID reads the same on its path and alone, so that one answer serves both. */
export function isSameAlone(reader: Reader, item: Pasted, nowMs: number): boolean {
  // A reader without a table knows no paths. The table of the session may still be on its way.
  if (reader.knows === "nothing") return item.path === undefined;
  const placed = reader.read(item, nowMs);
  const alone = reader.read({ ...item, path: undefined }, nowMs);
  // An entry of a pack is with the gateway alone.
  const isFit = placed.error === undefined || "missing" in placed.error;
  return isFit && readAs(placed) === readAs(alone);
}
