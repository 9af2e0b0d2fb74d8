import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Contrast of the tokens by WCAG 2.2 §1.4.3 (texts, 4.5 to 1) and §1.4.11 (edges and marks, 3 to 1), in both themes. */

const CSS = readFileSync(new URL("../../src/console/style/tokens.css", import.meta.url), "utf8");

type Theme = "light" | "dark";

/** The first value of each token: later ones are those of more contrast. */
function tokensOf(theme: Theme): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  for (const [, name = "", value = ""] of CSS.matchAll(/--([\w-]+):\s*([^;]+);/g)) {
    const [, light, dark] = /^light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)$/.exec(value) ?? [];
    const own = /^#[0-9a-f]{6}$/.test(value) ? value : theme === "light" ? light : dark;
    if (own !== undefined && !tokens.has(name)) tokens.set(name, own);
  }
  return tokens;
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const PAPERS = ["paper", "sheet", "well"];
const ON_PAPERS = ["ink", "ink-2", "ink-3", "good", "warn", "bad"].flatMap((ink) => PAPERS.map((on) => [ink, on]));

/** Texts and what they stand on. */
const TEXTS: readonly (readonly string[])[] = [
  ...ON_PAPERS,
  ...["good", "warn", "bad"].flatMap((state) => [
    [state, `${state}-paper`],
    ["ink", `${state}-paper`],
    ["ink-2", `${state}-paper`],
    // Small print in a row of a region that is down.
    ["ink-3", `${state}-paper`],
  ]),
  // Parts under the pointer, pressed or chosen.
  ...["ink", "ink-2"].flatMap((ink) => ["hover", "pressed", "raised"].map((on) => [ink, on])),
  ["ink-3", "hover"],
  ["on-ink", "ink"],
  ["on-ink", "ink-2"],
  ["on-alarm", "alarm"],
];

const REGIONS = Array.from({ length: 8 }, (_, at) => `region-${at + 1}`);

/** Edges of controls, focus, and the marks of regions. */
const EDGES: readonly (readonly string[])[] = [
  ...["edge", "ink", ...REGIONS].flatMap((edge) => PAPERS.map((on) => [edge, on])),
  ...["good", "warn", "bad"].map((state) => [state, `${state}-paper`]),
];

describe.each(["light", "dark"] as const)("in the theme %s", (theme) => {
  const tokens = tokensOf(theme);
  const ratio = ([one = "", other = ""]: readonly string[]): number => {
    const [front, back] = [tokens.get(one), tokens.get(other)];
    if (front === undefined || back === undefined) throw new Error(`no colour: ${one} or ${other}`);
    return contrast(front, back);
  };
  const tooLow = (pairs: readonly (readonly string[])[], least: number) =>
    pairs.filter((pair) => ratio(pair) < least).map((pair) => `${pair.join(" on ")}: ${ratio(pair).toFixed(2)}`);

  it("texts have 4.5 to 1", () => expect(tooLow(TEXTS, 4.5)).toEqual([]));

  it("edges and marks have 3 to 1", () => expect(tooLow(EDGES, 3)).toEqual([]));
});

it("the ratio of black and white is 21, and that of the same colour 1", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.478, 3);
  expect(contrast("#123456", "#123456")).toBe(1);
});
