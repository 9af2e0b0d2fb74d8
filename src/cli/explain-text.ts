import { builtinLayouts } from "../ids/index.ts";
import { pointerTo } from "../routing/faults.ts";
import type { Candidate, CompiledTable, Explanation, Rule } from "../routing/index.ts";
import { alignColumns } from "./columns.ts";
import { printable } from "./printable.ts";
import { bitStrip } from "./strip.ts";
import type { World } from "./world.ts";

/** An explanation for people, without what is wrong with the ID: that goes to stderr. Empty when nothing could be read. */
export const explanationText = (
  explanation: Explanation,
  table: CompiledTable | undefined,
  { paint, isWatched }: World,
): string => {
  const { text, candidates, forms, decision } = explanation;
  if (candidates.length === 0) return "";
  const chosen = chosenOf(explanation);
  const hasStrip = isWatched || paint("red", "x") !== "x";
  const blocks = [
    [paint("bold", printable(text))],
    decision === undefined ? [] : [`  ${chainOf(explanation, paint)}`],
    chosen === undefined || !hasStrip ? [] : stripOf(chosen, text, paint).map((line) => `  ${line}`),
    ...candidates.map((candidate) => candidateLines(candidate, table, paint).map((line) => `  ${line}`)),
    forms.length === 0 ? [] : ["  texts", ...formLines(forms).map((line) => `    ${line}`)],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
};

/** The candidate that decides; without a table, the only one that is left. */
const chosenOf = ({ candidates, decision }: Explanation): Candidate | undefined => {
  const left = candidates.filter(({ excluded }) => !excluded);
  if (decision === undefined) return left.length === 1 ? left[0] : undefined;
  return left.find(({ layout, entity }) => layout === decision.layout && entity === decision.entity);
};

/** ID, entity, route and region, in the order in which one leads to the next. */
const chainOf = ({ text, decision }: Explanation, paint: World["paint"]): string => {
  if (decision === undefined) return "";
  const { entity, layout, rule, region, path } = decision;
  const way = [layout, entity, ruleName(rule, text), paint(["bold", "green"], region)].join(" → ");
  return `${way}   ${paint("dim", path)}`;
};

/** Where the table says so, as a JSON pointer. */
const ruleName = (rule: Rule, text: string): string => {
  if (rule.kind === "route") return pointerTo(["routes", rule.index]);
  return rule.kind === "default" ? "/default" : pointerTo(["moved", text]);
};

const stripOf = ({ layout: name }: Candidate, text: string, paint: World["paint"]): readonly string[] => {
  const layout = builtinLayouts.get(name);
  const words = layout?.parse(text);
  return layout !== undefined && words?.ok ? bitStrip(layout, words.value, paint) : [];
};

const candidateLines = (
  candidate: Candidate,
  table: CompiledTable | undefined,
  paint: World["paint"],
): readonly string[] => {
  const { layout, entity, fields, mintedAt, excluded, region } = candidate;
  const fieldTexts = Object.entries(fields).map(([name, value]) => `${name} ${value}${countryOf(name, value, table)}`);
  const details = [
    ["fields", fieldTexts.join(", ")],
    ...(mintedAt === undefined ? [] : [["minted", mintedAt]]),
    ...candidate.for.map((reason) => ["for", reason]),
    ...candidate.against.map((reason) => ["against", reason]),
    ...(region === undefined ? [] : [["region", region]]),
  ];
  const head = `${paint("bold", layout)}${entity === undefined ? "" : ` of ${entity}`}`;
  const lines = alignColumns(details).map((line) => `  ${line}`);
  return [`${head}${excluded ? paint("dim", ", ruled out") : ""}`, ...lines];
};

/** The table's code for an iUID country number. */
const countryOf = (field: string, value: string, table: CompiledTable | undefined): string => {
  if (field !== "country" || table === undefined) return "";
  const code = [...table.countries].find(([, number]) => String(number) === value)?.[0];
  return code === undefined ? "" : ` (${code})`;
};

/** One text may be written the same way in several layouts. */
const formLines = (forms: Explanation["forms"]): readonly string[] => {
  const layoutsOf = new Map<string, { readonly form: string; readonly text: string; readonly layouts: string[] }>();
  for (const { form, text, layout } of forms) {
    const line = layoutsOf.get(`${form} ${text}`) ?? { form, text, layouts: [] };
    line.layouts.push(layout);
    layoutsOf.set(`${form} ${text}`, line);
  }
  return alignColumns([...layoutsOf.values()].map(({ form, text, layouts }) => [form, text, layouts.join(", ")]));
};
