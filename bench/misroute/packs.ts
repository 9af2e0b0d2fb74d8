import { createHash } from "node:crypto";
import type { PackRange } from "../../src/features/packs/table/format.ts";
import { encodePack } from "../../src/features/packs/table/format.ts";
import type { LoadedPack } from "../../src/features/packs/table/pack.ts";
import { partsOfFile, readHeader, verifyPack } from "../../src/features/packs/table/pack.ts";
import type { DeclaredPack } from "../../src/features/packs/table/schema.ts";
import { slotsOf } from "../../src/features/packs/table/slots.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import { needed, randomBelow, seededWords } from "../lib/random.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";

/** Packs of random ranges, by layout name. */

export interface SubjectPack {
  /** Ascending, with gaps. */
  readonly ranges: readonly PackRange[];
  readonly declared: DeclaredPack;
  readonly loaded: LoadedPack;
  /** As it is stored, by key. */
  readonly parts: ReturnType<typeof partsOfFile>;
}

/** The maximum per table, for the layouts with the widest keys. */
const PACKS_COUNT = 16;
const CUTS = 60;
/** Small, so that a pack has many pages. */
const RANGES_PER_PAGE = 7;

const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** Half of the boundaries are uniform, the others adjacent to one. A third of the intervals are gaps. */
const randomRanges = ({ name, key }: Subject & Keyed, seed: number): readonly PackRange[] => {
  const random = seededWords(seed);
  const end = Number(key.field.max) + 1;
  const cuts = new Set([0, key.third, 2 * key.third, end]);
  for (let cut = 0; cut < CUTS; cut++) {
    const any = Math.floor(((random.word() + random.word() / 2 ** 32) / 2 ** 32) * end);
    cuts.add(any);
    if (cut % 2 === 0) cuts.add(Math.min(end, any + randomBelow(random, 3)));
  }
  const sorted = [...cuts].toSorted((a, b) => a - b);
  return sorted.slice(1).flatMap((next, at) => {
    const choice = randomBelow(random, 3);
    return choice === 2 ? [] : [{ from: sorted[at] as number, to: next - 1, region: `${name}-pack-${choice}` }];
  });
};

interface Keyed {
  readonly key: NonNullable<Subject["key"]>;
}

const hasKey = (subject: Subject): subject is Subject & Keyed => subject.key !== undefined;

const packOf = async (subject: Subject & Keyed, seed: number): Promise<SubjectPack> => {
  const { name: field, bits } = subject.key.field;
  const ranges = randomRanges(subject, seed);
  const encoded = needed(await encodePack(ranges, { fieldBits: bits, sha256, rangesPerPage: RANGES_PER_PAGE }));
  const { header, pages, bytes, regions, sha256: digest } = encoded;
  const file = new Uint8Array(Buffer.concat([header, ...pages]));
  const loaded = needed(await verifyPack(file, sha256, digest));
  const parts = partsOfFile(file, needed(await readHeader(file, sha256)), digest);
  const declared = { sha256: digest, bytes, ranges: encoded.ranges, bits, field, regions: [...regions] };
  return { ranges, declared, loaded, parts };
};

export const PACKS: ReadonlyMap<string, SubjectPack> = new Map(
  await Promise.all(
    SUBJECTS.filter(hasKey)
      .toSorted((a, b) => b.key.field.bits - a.key.field.bits)
      .slice(0, PACKS_COUNT)
      .map(async (subject, at) => [subject.name, await packOf(subject, at + 1)] as const),
  ),
);

/** Attaches all packs of a table. */
export const attachPacks = (table: CompiledTable): void => {
  for (const slot of slotsOf(table).values()) {
    const pack = PACKS.get(slot.name);
    if (pack === undefined || !slot.attach(pack.loaded).ok) throw new Error(`pack ${slot.name} cannot be attached`);
  }
};
