import type { Piece } from "../ids/layout/runs.ts";
import { NO_ROUTE, type SegmentIndex, type Segments } from "../routing/lookup/id-index.ts";
import type { DimensionPlan, ExportPlan, IdDecision, MintedAt, NumberPlan, PatternPlan } from "./plan.ts";
import { isHexText, type TextShape } from "./text-shape.ts";

/** The parts of the decision that depend on the table, as Lua. `lua-program.ts` has what does not. */

/** A Lua string of any text. */
export const luaString = (text: string): string =>
  `"${Array.from(new TextEncoder().encode(text), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\${String(byte).padStart(3, "0")}`,
  ).join("")}"`;

/** A comment cannot end before its line does. */
export const luaComment = (text: string): string => `-- ${text.replaceAll(/[^\x20-\x7e]/g, "?")}`;

/** For `LUA_BITS_MAX` bits. */
const wordNames = ["a", "b", "c", "d", "e"] as const;

export const WORDS = wordNames.join(", ");

/** Part of a word: division and remainder, since Lua 5.1 has no operators on bits and numbers of 53 bits. */
const partOf = (word: number, shift: number, bits: number): string => {
  const name = wordNames[word] as string;
  const shifted = shift === 0 ? name : `floor(${name} / ${2 ** shift})`;
  return shift + bits === 32 ? shifted : `${shifted} % ${2 ** bits}`;
};

const scaled = (text: string, place: number): string => (place === 0 ? text : `${text} * ${2 ** place}`);

const sumOf = (pieces: readonly Piece[]): string =>
  pieces.length === 0
    ? "0"
    : pieces.map(({ word, shift, bits, place }) => scaled(partOf(word, shift, bits), place)).join(" + ");

export const numberText = ({ pieces, below, count }: NumberPlan): string =>
  below === 1 ? sumOf(pieces) : `floor((${sumOf(pieces)}) / ${below}) % ${count}`;

const bitsIn = (pieces: readonly Piece[]): number => pieces.reduce((sum, { bits }) => sum + bits, 0);

/** A piece on both sides of a place of 32 becomes two. */
const splitAt32 = (pieces: readonly Piece[]): readonly Piece[] =>
  pieces.flatMap((piece) => {
    const low = 32 - piece.place;
    if (piece.place >= 32 || piece.bits <= low) return [piece];
    return [
      { ...piece, bits: low },
      { ...piece, shift: piece.shift + low, bits: piece.bits - low, place: 32 },
    ];
  });

/** Unix milliseconds. Numbers beyond 53 bits are divided in two steps, each of them exact. */
export const mintedText = ({ pieces, ms, ticks, epochMs, isSql }: MintedAt): string => {
  const value = sumOf(pieces);
  if (isSql) return `sql_ms(${value}) + ${epochMs}`;
  if (bitsIn(pieces) <= 53) {
    const scaledValue = ms === 1 ? `(${value})` : `(${value}) * ${ms}`;
    return ticks === 1 ? `${scaledValue} + ${epochMs}` : `floor(${scaledValue} / ${ticks}) + ${epochMs}`;
  }
  const parts = splitAt32(pieces);
  const high = sumOf(parts.filter(({ place }) => place >= 32).map((piece) => ({ ...piece, place: piece.place - 32 })));
  const low = sumOf(parts.filter(({ place }) => place < 32));
  return `wide_ms(${high}, ${low}, ${ms}, ${ticks}) + ${epochMs}`;
};

/** The fixed bits of each word that differ make the layout another one. */
const fixedChecks = ({ mask, value }: IdDecision["fixed"]): readonly string[] =>
  mask.flatMap((bits, word) =>
    runsIn(bits).map(
      ({ shift, count }) =>
        `${partOf(word, shift, count)} ~= ${Math.floor((value[word] as number) / 2 ** shift) % 2 ** count}`,
    ),
  );

const runsIn = (mask: number): readonly { readonly shift: number; readonly count: number }[] => {
  const runs: { shift: number; count: number }[] = [];
  for (let shift = 0; shift < 32; ) {
    if (Math.floor(mask / 2 ** shift) % 2 === 0) {
      shift++;
      continue;
    }
    let count = 0;
    while (shift + count < 32 && Math.floor(mask / 2 ** (shift + count)) % 2 === 1) count++;
    runs.push({ shift, count });
    shift += count;
  }
  return runs;
};

/** All segments of a table, each once: entities share those of routes that do not name them. */
export class Nodes {
  readonly lines: string[] = [];
  private readonly known = new Map<Segments, number>();

  placeOf(segments: Segments, dimensions: readonly DimensionPlan[], slots: readonly number[]): number {
    const place = this.known.get(segments);
    if (place !== undefined) return place;
    const next = segments.next.map((inner) => this.placeOf(inner, dimensions, slots.slice(1)));
    const dimension = dimensions[slots[0] ?? 0];
    const count = dimension?.kind === "number" ? dimension.count : Number.POSITIVE_INFINITY;
    const own = this.lines.length + 1;
    const children = next.length === 0 ? "" : `\nC[${own}] = numbers("${next.join(" ")}")`;
    this.lines.push(`N[${own}] = ${segmentsText(segments.leads, count)}${children}`);
    this.known.set(segments, own);
    return own;
  }
}

/** Fields of up to 12 bits are looked up by their value. */
const FLAT_MAX = 4096;

/** Up to this many segments are told apart by comparisons: LuaJIT inlines no function with a loop. */
const COMPARED_MAX = 16;

type Leads = Segments["leads"];

const segmentsText = (leads: Leads, count: number): string => {
  if (leads.length <= COMPARED_MAX) return `function(v) ${comparedText(leads)} end`;
  const starts = leads.map(([start]) => start).join(" ");
  const targets = leads.map(([, lead]) => lead).join(" ");
  return count <= FLAT_MAX ? `flat("${starts}", "${targets}", ${count})` : `search("${starts}", "${targets}")`;
};

const comparedText = (leads: Leads): string => {
  const [only, second] = leads;
  if (second === undefined) return `return ${only?.[1] ?? NO_ROUTE}`;
  const middle = Math.ceil(leads.length / 2);
  const start = leads[middle]?.[0] ?? 0;
  return `if v < ${start} then ${comparedText(leads.slice(0, middle))} else ${comparedText(leads.slice(middle))} end`;
};

/** The function of one layout of an entity: nil where it does not take the words, else the region, or 0 for Waybill. */
export const decisionText = (id: IdDecision, nodes: Nodes): readonly string[] => {
  const { fixed, bounds, minted, window, dimensions, indexes, fallback, packsFrom } = id;
  const used = new Set(indexes.flatMap(({ slots }) => slots));
  const needsMinted = window !== undefined || [...used].some((slot) => dimensions[slot]?.kind === "minted");
  const checks = [
    ...fixedChecks(fixed),
    ...bounds.map(({ number, max, isTimeOfDay }) =>
      isTimeOfDay ? `(${numberText(number)}) % 4294967296 >= ${max}` : `${numberText(number)} > ${max}`,
    ),
  ];
  const values = [...used].flatMap((slot) => {
    const dimension = dimensions[slot];
    if (dimension === undefined || dimension.kind === "minted") return [];
    return [`  local v${slot} = ${numberText(dimension)}`];
  });
  return [
    `function(${WORDS}, now)`,
    ...(checks.length === 0 ? [] : [`  if ${checks.join(" or ")} then return nil end`]),
    ...(minted !== undefined && needsMinted
      ? [`  local minted = ${mintedText(minted)}`, "  if minted > EXACT then minted = EXACT end"]
      : []),
    ...(window === undefined
      ? []
      : [`  if minted < ${window.fromMs} or minted > now + ${window.aheadMs} then return nil end`]),
    ...values,
    `  local lowest = ${NO_ROUTE}`,
    ...indexes.flatMap((index) => indexText(index, dimensions, nodes)),
    ...(packsFrom < NO_ROUTE ? [`  if lowest >= ${packsFrom} then return 0 end`] : []),
    `  if lowest == ${NO_ROUTE} then return ${fallback} end`,
    "  return T[lowest + 1]",
    "end",
  ];
};

const indexText = (
  { first, slots, root }: SegmentIndex,
  dimensions: readonly DimensionPlan[],
  nodes: Nodes,
): readonly string[] => {
  if (root === undefined) return [`  if ${first} < lowest then lowest = ${first} end`];
  const name = (slot: number) => (dimensions[slot]?.kind === "minted" ? "minted" : `v${slot}`);
  const [outer, ...inner] = slots as readonly [number, ...number[]];
  return [
    `  if ${first} < lowest then`,
    `    local n = ${nodes.placeOf(root, dimensions, slots)}`,
    `    local lead = N[n](${name(outer)})`,
    ...inner.flatMap((slot) => [
      "    n = n and C[n] and C[n][lead + 1]",
      `    if n then lead = N[n](${name(slot)}) end`,
    ]),
    "    if lead < lowest then lowest = lead end",
    "  end",
  ];
};

/** The reader of a text form: the words, or nothing. */
export const readerText = (shape: TextShape): string => {
  const { prefix, length, isFixed, separators, digits, radix, bits } = shape;
  const count = Math.ceil(bits / 32);
  if (isHexText(shape)) return hexReaderText(shape);
  const values = [...digits].map(([character, value]) => `[${character.charCodeAt(0)}] = ${value}`).join(", ");
  const places = [...separators].map(([at, character]) => `[${at}] = ${character.charCodeAt(0)}`).join(", ");
  const top = 2 ** (bits - (count - 1) * 32);
  return `reader(${luaString(prefix)}, ${length}, ${isFixed}, { ${places} }, { ${values} }, ${radix}, ${count}, ${top})`;
};

/** Eight digits are a word, wherever separators stand between them. Without patterns, LuaJIT compiles the whole of it. */
const hexReaderText = ({ prefix, length, separators, digits, bits }: TextShape): string => {
  const kind = digits.has("a") && digits.has("A") ? "FOLDED" : digits.has("a") ? "LOWER" : "UPPER";
  const places = Array.from({ length }, (_, at) => at);
  const digit = (at: number): string => `${kind}[c${at}]`;
  const own = places.filter((at) => !separators.has(at));
  const words = Array.from({ length: bits / 32 }, (_, word) =>
    own
      .slice(word * 8 + 1, word * 8 + 8)
      .reduce((sum, at) => `(${sum}) * 16 + ${digit(at)}`, digit(own[word * 8] as number)),
  );
  const names = wordNames.slice(0, words.length);
  const total = prefix.length + length;
  const wrong = [
    ...[...separators].map(([at, character]) => `c${at} ~= ${character.charCodeAt(0)}`),
    // A character that is no digit makes a word that differs from itself.
    ...names.map((name) => `${name} ~= ${name}`),
  ];
  return [
    "function(t)",
    `  if #t ~= ${total}${prefix === "" ? "" : ` or sub(t, 1, ${prefix.length}) ~= ${luaString(prefix)}`} then return nil end`,
    `  local ${places.map((at) => `c${at}`).join(", ")} = byte(t, ${prefix.length + 1}, ${total})`,
    ...words.map((text, at) => `  local ${names[at]} = ${text}`),
    `  if ${wrong.join(" or ")} then return nil end`,
    `  return ${names.join(", ")}`,
    "end",
  ].join("\n");
};

export const canonicalLua = ({ prefix, canonical }: TextShape): string => {
  if (canonical === "same") return "t";
  return prefix === ""
    ? `${canonical}(t)`
    : `sub(t, 1, ${prefix.length}) .. ${canonical}(sub(t, ${prefix.length + 1}))`;
};

/** One number for each reading of IDs, and for each layout of an entity in it. */
export const readingText = (
  { reading }: Pick<PatternPlan, "reading">,
  plan: ExportPlan,
  placeOf: (id: IdDecision) => number,
): readonly string[] => [
  "function(t, now)",
  `  local region, which, text, ${wordNames.map((name) => `${name}0`).join(", ")}`,
  ...(reading ?? []).flatMap(({ shape, ids }) => [
    "  do",
    `    local ${WORDS} = R[${shape + 1}](t)`,
    "    if a then",
    ...ids.flatMap((id) => [
      "      do",
      `        local r = I[${placeOf(id)}](${WORDS}, now)`,
      "        if r then",
      ...(id.isCanonical
        ? [
            "          if region then return 0 end",
            `          region, which, text, ${wordNames.map((name) => `${name}0`).join(", ")} = r, ${placeOf(id)}, ${canonicalLua(plan.shapes[shape] as TextShape)}, ${WORDS}`,
            ...(plan.overrides.has(shape) ? [`          if M[${shape + 1}][text] then return 0 end`] : []),
          ]
        : ["          return 0"]),
      "        end",
      "      end",
    ]),
    "    end",
    "  end",
  ]),
  `  return region or 0, which, text, ${wordNames.map((name) => `${name}0`).join(", ")}`,
  "end",
];
