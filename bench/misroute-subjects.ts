import {
  declareLayout,
  everyLayout,
  type Field,
  type Layout,
  type LayoutDeclaration,
  layoutNamed,
} from "../src/ids/index.ts";
import { needed } from "./random-ids.ts";

/** Every layout there is, and what IDs of it are routed by. */

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
  /** IDs from before this are the old ones; absent without a time. */
  readonly cutMs: number | undefined;
  /** What routes depend on beside the time, and how wide a third of its values is; absent without one. */
  readonly key: { readonly field: Field; readonly third: number } | undefined;
}

const KEY_BITS_MAX = 53;

export const CANARY_PERCENT = 30;

export const SPLIT_PARTS = 5;

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

/** A time as tables write it. */
export const epochText = (epochMs: number): string => new Date(epochMs).toISOString();

/** What a table says of the layouts that are not ours, by name. */
export const declaredLayouts: Readonly<Record<string, unknown>> = Object.fromEntries([
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
