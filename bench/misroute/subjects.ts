import {
  declareLayout,
  everyLayout,
  type Field,
  type Layout,
  type LayoutDeclaration,
  layoutNamed,
} from "../../src/ids/index.ts";
import { needed } from "../lib/random.ts";

/** All layouts, and what their IDs are routed by. */

/** The clock of all requests. */
export const NOW_MS = Date.UTC(2026, 10, 21);
export const WINDOW_FROM_MS = Date.UTC(2000, 0, 1);
export const WINDOW_AHEAD_MS = 86_400_000;
const DAY_MS = 86_400_000;

/** A layout with its routes. */
export interface Subject {
  readonly layout: Layout;
  /** Its entity has the paths `/<name>/:id`. */
  readonly name: string;
  /** Older IDs go to another region; absent without a time. */
  readonly cutMs: number | undefined;
  /** The field that routes depend on, and the width of a third of its values. */
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

/** Custom layouts: with a prefix, in the text of ULIDs, and in the text of UUIDs. */
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

/** Snowflakes with another epoch. */
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

/** A time in a table's notation. */
export const epochText = (epochMs: number): string => new Date(epochMs).toISOString();

/** Declarations of the custom layouts, by name. */
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
