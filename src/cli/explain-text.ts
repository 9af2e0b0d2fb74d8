import type { Layout } from "../ids/index.ts";
import { pointerTo } from "../routing/faults.ts";
import type { Candidate, CompiledTable, Rule } from "../routing/index.ts";
import { alignColumns } from "./columns.ts";
import type { Explained } from "./explain-bare.ts";
import { escapeControls } from "./printable.ts";
import { bitDiagram } from "./strip.ts";
import type { Runtime } from "./world.ts";

/** What an explanation is shown with. */
interface Setting {
  /** `undefined`: no route is shown. */
  readonly table: CompiledTable | undefined;
  readonly layouts: readonly Layout[];
  readonly runtime: Pick<Runtime, "paint" | "isWatched">;
}

/** An explanation for people, without what is wrong with the ID: that goes to stderr. Empty when nothing could be read. */
export const formatExplanation = (explanation: Explained, { table, layouts, runtime }: Setting): string => {
  const { text, candidates, forms, decision } = explanation;
  const { paint, isWatched } = runtime;
  if (candidates.length === 0) return "";
  const chosen = chosenOf(explanation);
  const hasStrip = isWatched || paint("red", "x") !== "x";
  // Among all layouts there are, most are ruled out: one line will do for each of those.
  const isShort = ({ excluded }: Candidate): boolean => excluded && table === undefined && candidates.length > 1;
  const blocks = [
    [paint("bold", escapeControls(text))],
    decision === undefined
      ? ambiguityLines(candidates)
      : [`  ${chainOf(explanation, paint)}`, ...shadowLines(decision)],
    chosen === undefined || !hasStrip ? [] : diagramOf(chosen, text, layouts, paint).map((line) => `  ${line}`),
    ...candidates
      .filter((candidate) => !isShort(candidate))
      .map((candidate) => candidateLines(candidate, table, paint).map((line) => `  ${line}`)),
    forms.length === 0 ? [] : ["  texts", ...formLines(forms).map((line) => `    ${line}`)],
    ruledOutLines(candidates.filter(isShort)),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
};

/** Several layouts are possible: which ones, in one sentence. */
const ambiguityLines = (candidates: readonly Candidate[]): readonly string[] => {
  const possible = [...new Set(candidates.filter(({ excluded }) => !excluded).map(({ layout }) => layout))];
  return possible.length < 2 ? [] : [`  one of ${possible.join(", ")}: the text does not tell which`];
};

const ruledOutLines = (candidates: readonly Candidate[]): readonly string[] => {
  if (candidates.length === 0) return [];
  const lines = alignColumns(candidates.map(({ layout, against }) => [layout, against[0] ?? ""]));
  return ["  ruled out", ...lines.map((line) => `    ${line}`)];
};

/** The candidate that decides; without a table, the only one that is left. */
const chosenOf = ({ candidates, decision }: Explained): Candidate | undefined => {
  const left = candidates.filter(({ excluded }) => !excluded);
  if (decision === undefined) return left.length === 1 ? left[0] : undefined;
  return left.find(({ layout, entity }) => layout === decision.layout && entity === decision.entity);
};

/** ID, entity, route and region, in the order in which one leads to the next. */
const chainOf = ({ text, decision }: Explained, paint: Runtime["paint"]): string => {
  if (decision === undefined) return "";
  const { entity, layout, rule, region, path } = decision;
  const source = [layout, entity, ruleName(rule, text), paint(["bold", "green"], region)].join(" → ");
  return `${source}   ${paint("dim", path)}`;
};

const shadowLines = ({ shadow }: NonNullable<Explained["decision"]>): readonly string[] =>
  shadow === undefined ? [] : [`  shadow: ${shadow.percent} % of the reads go to ${shadow.region} as well`];

/** Where the table says so, as a JSON pointer. */
const ruleName = (rule: Rule, text: string): string => {
  if (rule.kind === "route") {
    const part = rule.part === undefined ? "" : `, part ${rule.part} of its split`;
    return `${pointerTo(["routes", rule.index])}${part}${rule.pack === undefined ? "" : `, by pack ${rule.pack}`}`;
  }
  if (rule.kind === "canary") return pointerTo(["routes", rule.index, "canary"]);
  if (rule.kind === "default") return "/default";
  return pointerTo([rule.kind === "moving" ? "moves" : "moved", text]);
};

const diagramOf = (
  { layout: name }: Candidate,
  text: string,
  layouts: readonly Layout[],
  paint: Runtime["paint"],
): readonly string[] => {
  const layout = layouts.find((each) => each.name === name);
  const words = layout?.texts.map(({ read }) => read(text, 0, text.length)).find((read) => read !== undefined);
  return layout !== undefined && words !== undefined ? bitDiagram(layout, words, paint) : [];
};

const candidateLines = (
  candidate: Candidate,
  table: CompiledTable | undefined,
  paint: Runtime["paint"],
): readonly string[] => {
  const { layout, entity, fields, mintedAt, excluded, region } = candidate;
  const fieldTexts = Object.entries(fields).map(([name, value]) => `${name} ${value}${countryOf(name, value, table)}`);
  const details = [
    ["fields", fieldTexts.join(", ")],
    ...(mintedAt === undefined ? [] : [["minted", mintedAt]]),
    ...candidate.for.map((reason) => ["for", reason]),
    ...candidate.against.map((reason) => ["against", reason]),
    ...(region === undefined ? [] : [["region", region]]),
    ...canaryLines(candidate),
    ...stateLines(candidate),
  ];
  const head = `${paint("bold", layout)}${entity === undefined ? "" : ` of ${entity}`}`;
  const lines = alignColumns(details).map((line) => `  ${line}`);
  return [`${head}${excluded ? paint("dim", ", ruled out") : ""}`, ...lines];
};

/** At which percent the route's canary takes the ID, and how many it takes. */
const canaryLines = ({ canary }: Candidate): readonly (readonly [string, string])[] => {
  if (canary === undefined) return [];
  const { region, percent, takesFrom } = canary;
  const stand = takesFrom <= percent ? "among" : "beyond";
  return [["canary", `${takesFrom} %, ${stand} the ${percent} % that go to ${region}`]];
};

/** Where the entity is on its way, if the table says something of it. */
const stateLines = ({ move, rule }: Candidate): readonly (readonly [string, string])[] => {
  if (rule?.kind === "gone") return [["gone", "removed from every region"]];
  if (move === undefined) return [];
  const sentences = {
    started: `started, to ${move.to}`,
    fenced: `fenced on its way to ${move.to}: reads only`,
    moved: `arrived in ${move.to}`,
  };
  return [["move", `${sentences[move.state]}; epoch ${move.epoch}`]];
};

/** The table's code for an iUID country number. */
const countryOf = (field: string, value: string, table: CompiledTable | undefined): string => {
  if (field !== "country" || table === undefined) return "";
  const code = [...table.countries].find(([, number]) => String(number) === value)?.[0];
  return code === undefined ? "" : ` (${code})`;
};

/** One text may be written the same way in several layouts. */
const formLines = (forms: Explained["forms"]): readonly string[] => {
  const layoutsOf = new Map<string, { readonly form: string; readonly text: string; readonly layouts: string[] }>();
  for (const { form, text, layout } of forms) {
    const line = layoutsOf.get(`${form} ${text}`) ?? { form, text, layouts: [] };
    line.layouts.push(layout);
    layoutsOf.set(`${form} ${text}`, line);
  }
  return alignColumns([...layoutsOf.values()].map(({ form, text, layouts }) => [form, text, layouts.join(", ")]));
};
