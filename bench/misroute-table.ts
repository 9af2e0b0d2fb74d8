import {
  declareLayout,
  everyLayout,
  type Field,
  type Layout,
  type LayoutDeclaration,
  layoutNamed,
} from "../src/ids/index.ts";
import { type CompiledTable, loadTable } from "../src/routing/index.ts";
import { needed } from "./random-ids.ts";

/** Tables with every layout there is. Each layout has regions of its own, so that no wrong reading leads to the right one. */

/** The clock of all requests. */
export const NOW_MS = Date.UTC(2026, 10, 21);
export const WINDOW_FROM_MS = Date.UTC(2000, 0, 1);
export const WINDOW_AHEAD_MS = 86_400_000;
const DAY_MS = 86_400_000;

/** A layout with the routes of its IDs. */
export interface Subject {
  readonly layout: Layout;
  /** Its own entity has the paths `/<name>/:id`. */
  readonly name: string;
  /** IDs from before this go to the region `<name>-old`; absent without a time. */
  readonly cutMs: number | undefined;
  /**
   * The key's thirds go to `<name>-low`, to `<name>-high` and nowhere; without a key all IDs go to `<name>-all`. A canary
   * takes a share of the first third, or of all, to `<name>-canary`.
   */
  readonly key: { readonly field: Field; readonly third: number } | undefined;
}

const KEY_BITS_MAX = 53;

export const CANARY_PERCENT = 30;

const subjectOf = (layout: Layout): Subject => {
  const { name, table, fields } = layout;
  const time = table.rows.find(({ role }) => role === "time");
  const startMs = Math.max(WINDOW_FROM_MS, time?.role === "time" ? time.epochMs : 0);
  const narrow = fields.filter(({ bits }) => bits <= KEY_BITS_MAX);
  const field = narrow.find(({ role }) => role === "key") ?? narrow.find(({ role }) => role === "node");
  return {
    layout,
    name,
    cutMs: time === undefined ? undefined : Math.floor((startMs + NOW_MS) / 2 / DAY_MS) * DAY_MS,
    key: field && { field, third: Math.floor((Number(field.max) + 1) / 3) },
  };
};

/** Layouts as a user declares them: one with a prefix, one in the text of ULIDs, and one in that of UUIDs. */
const DECLARED: readonly (LayoutDeclaration & { readonly text: string })[] = [
  {
    name: "own-prefixed",
    rows: [
      { field: "mintedAt", bits: 40, role: "time", unit: "ms", epochMs: Date.UTC(2020, 0, 1) },
      { field: "format", bits: 4, role: "fixed", value: 5 },
      { field: "cell", bits: 12, role: "key" },
      { field: "random", bits: 40, role: "random" },
    ],
    text: "base62",
    prefix: "ord_",
  },
  {
    name: "own-base32",
    rows: [
      { field: "format", bits: 8, role: "fixed", value: 0x5a },
      { field: "cell", bits: 20, role: "key" },
      { field: "random", bits: 100, role: "random" },
    ],
    text: "base32",
  },
  {
    name: "own-uuid",
    rows: [
      { field: "cell", bits: 32, role: "key" },
      { field: "random", bits: 16, role: "random" },
      { field: "version", bits: 4, role: "fixed", value: 8 },
      { field: "format", bits: 4, role: "fixed", value: 15 },
      { field: "random", bits: 8, role: "random" },
      { field: "variant", bits: 2, role: "fixed", value: 2 },
      { field: "random", bits: 62, role: "random" },
    ],
    text: "uuid",
  },
];

/** An issuer's Snowflakes with an epoch of its own. */
const VARIANT = { name: "own-snowflake", like: "snowflake", epoch: "2020-01-01T00:00:00Z" };

const variantLayout = (): Layout => {
  const base = layoutNamed(VARIANT.like) as Layout;
  const rows = base.table.rows.map((row) =>
    row.role === "time" ? { ...row, epochMs: Date.parse(VARIANT.epoch) } : row,
  );
  return needed(declareLayout({ name: VARIANT.name, rows, text: "decimal" }));
};

export const SUBJECTS: readonly Subject[] = [
  ...everyLayout,
  ...DECLARED.map((declaration) => needed(declareLayout(declaration))),
  variantLayout(),
].map(subjectOf);

/** An entity for each layout: its path alone says which layout is meant. */
export const apartTable = (): CompiledTable =>
  needed(
    loadTable(
      declare(
        SUBJECTS,
        SUBJECTS.map(({ name }) => ({ name, path: `/${name}/:id`, subjects: [name] })),
      ),
      1,
    ),
  );

/** One entity with as many layouts as the table's checks let stand together, and those layouts. */
export const togetherTable = (): { readonly table: CompiledTable; readonly subjects: readonly Subject[] } => {
  let subjects: readonly Subject[] = [];
  let table: CompiledTable | undefined;
  // Those with most fixed bits first: a layout without any keeps many others out.
  for (const subject of SUBJECTS.toSorted((a, b) => b.layout.fixedBits - a.layout.fixedBits)) {
    const more = [...subjects, subject];
    const loaded = loadTable(
      declare(more, [{ name: "thing", path: "/things/:id", subjects: more.map(({ name }) => name) }]),
      1,
    );
    if (!loaded.ok) continue;
    subjects = more;
    table = loaded.value;
  }
  if (table === undefined) throw new Error("no layout can stand in a table");
  return { table, subjects };
};

interface DeclaredEntity {
  readonly name: string;
  readonly path: string;
  readonly subjects: readonly string[];
}

const declare = (subjects: readonly Subject[], entities: readonly DeclaredEntity[]): unknown => {
  const routes = subjects.flatMap(routesOf);
  return {
    regions: Object.fromEntries(
      routes.flatMap(({ region, canary }) =>
        [region, ...(canary === undefined ? [] : [canary.region])].map((name) => [
          name,
          { origins: [{ url: "https://origin.test" }] },
        ]),
      ),
    ),
    entities: Object.fromEntries(
      entities.map(({ name, path, subjects: own }) => [name, { path, ids: own.map((layout) => ({ layout })) }]),
    ),
    layouts: Object.fromEntries(
      subjects.flatMap(({ name }) => {
        const own = declaredLayouts[name];
        return own === undefined ? [] : [[name, own]];
      }),
    ),
    routes,
  };
};

const epochText = (epochMs: number): string => new Date(epochMs).toISOString();

const declaredLayouts: Readonly<Record<string, unknown>> = Object.fromEntries([
  ...DECLARED.map(({ name, rows, text, prefix }) => [
    name,
    {
      rows: rows.map((row) => {
        if (row.role !== "time") return row;
        const { epochMs, ...others } = row;
        return { ...others, epoch: epochText(epochMs) };
      }),
      text,
      ...(prefix === undefined ? {} : { prefix }),
    },
  ]),
  [VARIANT.name, { like: VARIANT.like, epoch: VARIANT.epoch }],
]);

/** Keys that have a condition of their own name. */
const NAMED_KEYS = ["shardKey", "primaryKey", "service", "group"];

interface DeclaredRoute {
  readonly when: object;
  readonly region: string;
  readonly canary?: { readonly region: string; readonly percent: number };
}

const routesOf = ({ name, cutMs, key }: Subject): readonly DeclaredRoute[] => {
  const canary = { region: `${name}-canary`, percent: CANARY_PERCENT };
  const old =
    cutMs === undefined ? [] : [{ when: { layout: name, mintedBefore: epochText(cutMs) }, region: `${name}-old` }];
  if (key === undefined) return [...old, { when: { layout: name }, region: `${name}-all`, canary }];
  const { field, third } = key;
  const within = (range: string) =>
    NAMED_KEYS.includes(field.name) ? { [field.name]: range } : { fields: { [field.name]: range } };
  return [
    ...old,
    { when: { layout: name, ...within(`0-${third - 1}`) }, region: `${name}-low`, canary },
    { when: { layout: name, ...within(`${third}-${2 * third - 1}`) }, region: `${name}-high` },
  ];
};
