import { type CompiledTable, loadTable } from "../../src/routing/index.ts";
import { needed } from "../lib/random.ts";
import { attachPacks, PACKS } from "./packs.ts";
import { CANARY_PERCENT, declaredLayouts, epochText, SPLIT_PARTS, SUBJECTS, type Subject } from "./subjects.ts";

/** Tables with all layouts. Each layout has its own regions, so a wrong reading never gives the right one. */

interface DeclaredRoute {
  readonly when: object;
  readonly region?: string;
  readonly canary?: { readonly region: string; readonly percent: number };
  readonly split?: { readonly by: "hash"; readonly parts: number; readonly regions: readonly string[] };
  readonly pack?: string;
}

/** The routes of a layout's IDs. */
export type Plan = (subject: Subject) => readonly DeclaredRoute[];

/**
 * Old IDs go to `<name>-old`. The thirds of the keys go to `<name>-low`, `<name>-high` and nowhere. Without a key all IDs go
 * to `<name>-all`. A canary sends a share of the first third, or of all, to `<name>-canary`.
 */
export const byRegions: Plan = (subject) => {
  const { name, key } = subject;
  const canary = { region: `${name}-canary`, percent: CANARY_PERCENT };
  if (key === undefined) return [...oldOf(subject), { when: { layout: name }, region: `${name}-all`, canary }];
  const { third } = key;
  return [
    ...oldOf(subject),
    { when: { layout: name, ...within(subject, 0, third - 1) }, region: `${name}-low`, canary },
    { when: { layout: name, ...within(subject, third, 2 * third - 1) }, region: `${name}-high` },
  ];
};

/** Old IDs as above, then the layout's pack if it has one, then a split of two thirds of the keys or of all. */
export const byPacksAndSplits: Plan = (subject) => {
  const { name, key } = subject;
  const pack = PACKS.has(name) ? [{ when: { layout: name }, pack: name }] : [];
  const when = { layout: name, ...(key && within(subject, 0, 2 * key.third - 1)) };
  const regions = Array.from({ length: SPLIT_PARTS }, (_, part) => splitRegion(name, part));
  return [...oldOf(subject), ...pack, { when, split: { by: "hash", parts: SPLIT_PARTS, regions } }];
};

/** Some parts share a region. */
export const splitRegion = (name: string, part: number): string => `${name}-part-${part % 2}`;

const oldOf = ({ name, cutMs }: Subject): readonly DeclaredRoute[] =>
  cutMs === undefined ? [] : [{ when: { layout: name, mintedBefore: epochText(cutMs) }, region: `${name}-old` }];

/** Fields with a condition of the same name. */
const NAMED_KEYS = ["shardKey", "primaryKey", "service", "group"];

const within = ({ key }: Subject, first: number, last: number): object => {
  const field = key?.field.name ?? "";
  const range = `${first}-${last}`;
  return NAMED_KEYS.includes(field) ? { [field]: range } : { fields: { [field]: range } };
};

/** One entity per layout, so the path implies the layout. */
export const separateTable = (): CompiledTable =>
  needed(
    load(
      SUBJECTS,
      SUBJECTS.map(({ name }) => [name, { path: `/${name}/:id`, ids: [{ layout: name }] }]),
      byRegions,
    ),
  );

/** Maximum number of layouts per entity. */
const PATTERNS_PER_ENTITY = 14;

/** Few entities with many layouts each, distinguished by patterns `/<name>/:id`. */
export const patternTable = (): CompiledTable => {
  const groups = Array.from({ length: Math.ceil(SUBJECTS.length / PATTERNS_PER_ENTITY) }, (_, at) =>
    SUBJECTS.slice(at * PATTERNS_PER_ENTITY, (at + 1) * PATTERNS_PER_ENTITY),
  );
  const entities = groups.map(
    (group, at) =>
      [
        `group-${at}`,
        {
          path: group.map(({ name }) => ({ path: `/${name}/:id`, layout: name })),
          ids: group.map(({ name }) => ({ layout: name })),
        },
      ] as const,
  );
  return needed(load(SUBJECTS, entities, byPacksAndSplits));
};

/** One entity with as many layouts as the table's checks allow, and those layouts. */
export const sharedTable = (plan: Plan): { readonly table: CompiledTable; readonly subjects: readonly Subject[] } => {
  let subjects: readonly Subject[] = [];
  let table: CompiledTable | undefined;
  // Most fixed bits first: a layout without any conflicts with many others.
  for (const subject of SUBJECTS.toSorted((a, b) => b.layout.fixedBits - a.layout.fixedBits)) {
    const more = [...subjects, subject];
    const ids = more.map(({ name }) => ({ layout: name }));
    const loaded = load(more, [["thing", { path: "/things/:id", ids }]], plan);
    if (!loaded.ok) continue;
    subjects = more;
    table = loaded.value;
  }
  if (table === undefined) throw new Error("no layout loads");
  return { table, subjects };
};

const load = (
  subjects: readonly Subject[],
  entities: readonly (readonly [name: string, declared: object])[],
  plan: Plan,
): ReturnType<typeof loadTable> => {
  const routes = subjects.flatMap(plan);
  const packs = routes.flatMap(({ pack }) => (pack === undefined ? [] : [[pack, PACKS.get(pack)?.declared] as const]));
  const regions = new Set([
    ...routes.flatMap(({ region, canary, split }) => [region ?? [], canary?.region ?? [], split?.regions ?? []].flat()),
    ...packs.flatMap(([, pack]) => pack?.regions ?? []),
  ]);
  const loaded = loadTable(
    {
      regions: Object.fromEntries([...regions].map((name) => [name, { origins: [{ url: "https://origin.test" }] }])),
      entities: Object.fromEntries(entities),
      layouts: Object.fromEntries(
        subjects.flatMap(({ name }) => (name in declaredLayouts ? [[name, declaredLayouts[name]]] : [])),
      ),
      routes,
      packs: Object.fromEntries(packs),
    },
    1,
  );
  if (loaded.ok) attachPacks(loaded.value);
  return loaded;
};
