import { tableCanaryInWords } from "../../../formats/console-canary.ts";
import { groupText, type Layout, luuid, ok, type Role, type Words } from "../../../ids/index.ts";
import { type Candidate, type CompiledTable, type Entity, LUUID_SHORT, type Rule } from "../../../routing/index.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import { patternFor } from "../../../routing/lookup/paths.ts";
import { openGateway, type PublishedTable, readRevision } from "../../client/client.ts";
import { answerOf, GATEWAY_OPTIONS, TOKEN_VARIABLE } from "../../client/http.ts";
import { command, option } from "../../command.ts";
import { formatError, parseErrorSentence } from "../../lib/errors.ts";
import { eachId, requireIds } from "../../lib/input.ts";
import { findLayout, knownLayouts } from "../../lib/layouts.ts";
import { alignColumns, escapeControls, indented, jsonText, section, shellWord } from "../../lib/output.ts";
import { compile, openTableFile, type TableFile } from "../../lib/table-file.ts";
import { misuse, type Runtime, type Style } from "../../runtime.ts";
import { openerOf } from "../public-id.ts";
import { explainByTable, withOtherLayouts, withRule } from "./by-table.ts";
import { askGatewayHint, explainUrl, lacksUrl, REQUEST_OPTIONS } from "./request.ts";
import {
  ambiguityLines,
  bareCommand,
  couldBeLines,
  type DeclaredRule,
  type Explained,
  explainBare,
  explainNamed,
  plainOf,
} from "./without-table.ts";

/** Colours by role; fields of one role alternate. */
const STYLES: Readonly<Record<Role, readonly Style[]>> = {
  fixed: ["red"],
  time: ["cyan"],
  key: ["green", "yellow"],
  node: ["blue", "magenta"],
  counter: ["yellow"],
  random: ["dim"],
};

const WORD_BITS = 32;

/** The bits of an ID, one word per line, coloured by field. Without colours, a letter under each bit marks its field. */
export const bitDiagram = (layout: Layout, words: Words, paint: Runtime["paint"]): readonly string[] => {
  const hasColours = paint("red", "x") !== "x";
  const turns = new Map<Role, number>();
  const spans = layout.fields.map(({ name, role, mask }, index) => {
    const turn = turns.get(role) ?? 0;
    turns.set(role, turn + 1);
    const style = STYLES[role][turn % STYLES[role].length] as Style;
    return { name, mask, letter: String.fromCharCode(97 + index), show: (text: string) => paint(style, text) };
  });
  const lines = words.flatMap((word, index) => {
    const cells = Array.from({ length: WORD_BITS }, (_, place) => {
      const bitOf = (bits: number): number => (bits >>> (WORD_BITS - 1 - place)) & 1;
      const span = spans.find(({ mask }) => bitOf(mask[index] as number) === 1);
      const bit = `${bitOf(word)}`;
      return { bit: span?.show(bit) ?? bit, letter: span?.letter ?? " " };
    });
    const bits = `${word.toString(16).padStart(8, "0")}  ${inFours(cells.map(({ bit }) => bit))}`;
    return hasColours ? [bits] : [bits, `${" ".repeat(10)}${inFours(cells.map(({ letter }) => letter))}`];
  });
  const legend = spans.map(({ name, letter, show }) => show(hasColours ? name : `${letter} ${name}`));
  return [...lines, legend.join(hasColours ? "  " : ", ")];
};

const inFours = (cells: readonly string[]): string =>
  cells.map((cell, index) => (index % 4 === 0 && index > 0 ? ` ${cell}` : cell)).join("");

/** An explanation for a terminal, without the error: that goes to stderr. Empty if nothing could be read. Without a `table` no route is shown. */
const formatExplanation = (
  explanation: Explained,
  table: CompiledTable | undefined,
  layouts: readonly Layout[],
  { paint, isWatched }: Runtime,
): string => {
  const { text, candidates, forms, decision, tableCanary } = explanation;
  if (candidates.length === 0 && decision === undefined && explanation.couldBe === undefined) return "";
  const chosen = chosenOf(explanation);
  const hasStrip = isWatched || paint("red", "x") !== "x";
  // Without a table most layouts are excluded: one line each is enough.
  const isShort = ({ excluded }: Candidate): boolean => excluded && table === undefined && candidates.length > 1;
  const ruledOut = candidates.filter(isShort).map(({ layout, against }) => [layout, against[0] ?? ""]);
  const blocks = [
    [paint("bold", escapeControls(text))],
    indented(decision === undefined ? ambiguityLines(explanation) : decisionLines(explanation, decision, paint)),
    indented(tableCanary === undefined ? [] : [`canary: ${escapeControls(tableCanaryInWords(tableCanary))}`]),
    chosen === undefined || !hasStrip ? [] : indented(diagramOf(chosen, text, layouts, paint)),
    ...candidates
      .filter((candidate) => !isShort(candidate))
      .map((candidate) => indented(candidateLines(candidate, table, paint))),
    indented(section("texts", formLines(forms))),
    indented(section("could be", couldBeLines(explanation))),
    indented(section("ruled out", alignColumns(ruledOut))),
  ];
  const texts = blocks.map((lines) => lines.join("\n"));
  return `${texts.filter((block) => block !== "").join("\n\n")}\n`;
};

/** The deciding candidate; without a table, the only one not excluded. */
const chosenOf = ({ candidates, decision }: Explained): Candidate | undefined => {
  const left = candidates.filter(({ excluded }) => !excluded);
  if (decision === undefined) return left.length === 1 ? left[0] : undefined;
  return left.find(({ layout, entity }) => layout === decision.layout && entity === decision.entity);
};

type Decision = NonNullable<Explained["decision"]>;

/** First `iuid → order → /routes/3 → eu`. */
const decisionLines = ({ declared, learned }: Explained, decision: Decision, paint: Runtime["paint"]) => {
  const { entity, layout, rule, region, path, shadow, readCopies, gateway, byGateway } = decision;
  const pointer = `${declared?.pointer ?? rule.kind}${ruleAddition(rule)}`;
  const where = learned && `an origin said with a 421 that it is in ${learned.region}; requests go there first`;
  return [
    `${[layout, entity, pointer, paint(["bold", "green"], region)].join(" → ")}   ${paint("dim", path)}`,
    ...(declared === undefined ? [] : [ruleLine(declared)]),
    ...(where === undefined ? [] : [`learned: ${where}`]),
    ...(gateway === undefined
      ? []
      : [
          byGateway
            ? `gateway: ${region} is asked by its gateway, ${gateway}`
            : `gateway: ${gateway} is asked, unless SELF_REGIONS names ${region}`,
        ]),
    ...(shadow === undefined ? [] : [`shadow: ${shadow.percent} % of the reads are mirrored to ${shadow.region}`]),
    ...(readCopies === undefined
      ? []
      : [
          `copies: in ${readCopies.regions.join(", ")}, for clients near them, up to ${readCopies.lagSeconds} s behind`,
        ]),
  ];
};

const RULE_LENGTH_MAX = 200;
/** `routing-table.json:31  { "when": … }`. */
const ruleLine = ({ source, line, value }: DeclaredRule): string => {
  const text = JSON.stringify(value);
  const shown = text.length > RULE_LENGTH_MAX ? `${text.slice(0, RULE_LENGTH_MAX)} …` : text;
  return escapeControls(`${source}:${line}  ${shown}`);
};

const ruleAddition = (rule: Rule): string => {
  if (rule.kind === "directory" && rule.state !== undefined) return `, by its ${rule.state} answer`;
  if (rule.kind !== "route") return "";
  const part = rule.part === undefined ? "" : `, part ${rule.part} of its split`;
  return part + (rule.pack === undefined ? "" : `, by pack ${rule.pack}`);
};

const diagramOf = ({ layout: name }: Candidate, text: string, layouts: readonly Layout[], paint: Runtime["paint"]) => {
  const layout = layouts.find((each) => each.name === name);
  const words = layout?.texts.map(({ read }) => read(text, 0, text.length)).find((read) => read !== undefined);
  return layout !== undefined && words !== undefined ? bitDiagram(layout, words, paint) : [];
};

const candidateLines = (candidate: Candidate, table: CompiledTable | undefined, paint: Runtime["paint"]) => {
  const { layout, entity, fields, mintedAt, excluded, region } = candidate;
  const fieldTexts = Object.entries(fields).map(
    ([name, value]) => `${name} ${value}${meaningOf(name, value, layout, table)}`,
  );
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
  return [`${head}${excluded ? paint("dim", ", ruled out") : ""}`, ...indented(alignColumns(details))];
};

/** At which percent of the route's canary the ID is, and what it takes. */
const canaryLines = ({ canary }: Candidate): readonly (readonly [string, string])[] => {
  if (canary === undefined) return [];
  const { region, percent, takesFrom } = canary;
  const stand = takesFrom <= percent ? "among" : "beyond";
  return [["canary", `${takesFrom} %, ${stand} the ${percent} % that go to ${region}`]];
};

const stateLines = ({ move, rule }: Candidate): readonly (readonly [string, string])[] => {
  if (rule?.kind === "gone") return [["gone", "removed from every region"]];
  if (rule?.kind === "directory") return [["directory", rule.directory]];
  if (move === undefined) return [];
  const sentences = {
    started: `started, to ${move.to}`,
    fenced: `fenced, moving to ${move.to}: reads only`,
    moved: `moved to ${move.to}`,
  };
  return [["move", `${sentences[move.state]}; epoch ${move.epoch}`]];
};

const meaningOf = (field: string, value: string, layout: string, table: CompiledTable | undefined): string => {
  if (field === "group" && layout.startsWith(luuid.name)) return ` (${groupText(value)})`;
  if (field !== "country" || table === undefined) return "";
  const code = [...table.countries].find(([, number]) => String(number) === value)?.[0];
  return code === undefined ? "" : ` (${code})`;
};

/** Several layouts may share one text. */
const formLines = (forms: Explained["forms"]): readonly string[] => {
  const alike = groupBy(forms, ({ form, text }) => JSON.stringify([form, text]));
  const rows = [...alike].map(([key, of]) => [...JSON.parse(key), of.map(({ layout }) => layout).join(", ")]);
  return alignColumns(rows);
};

export const explainIds = command({
  name: "explain",
  description: "show how IDs can be read, where they are routed and why",
  args: [["[id...]", "IDs, or paths or URLs with one; - or none reads them from stdin, one per line"]],
  options: [
    option("--layout <name>", "read the IDs as this layout only; a route is shown if the table has the layout"),
    option("--table <file>", "the routing table (default: routing-table.json, if present)"),
    option("--no-table", "try every built-in layout, ignoring any table"),
    option("--gateway <url>", `ask this running gateway, with the token in ${TOKEN_VARIABLE}`),
    GATEWAY_OPTIONS[1],
    option("--json", "one JSON object per line, in the order of the IDs"),
    ...REQUEST_OPTIONS,
  ],
  help: `
Examples:
  $ waybill explain 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill explain https://api.example.com/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/events
  $ waybill explain --json < ids.txt | jq -r .decision.region
  $ waybill explain --no-table 01ARZ3NDEKTSV4RRFFQ69G5FAV
  $ waybill explain --layout sonyflake 94670051232743425
  $ waybill explain --url /checkout --header 'x-order-id: 0192f0c1-7a30-8005-8040-8f3b2a1c9d77' --body-file order.json

Exit code: 0 if every ID has a region (without a table: can be read), otherwise 1. With --url: 1 if the gateway would refuse the
request, such as a create without its key, a write to an entity that moves, or a list of an unknown region.`,
  run: async (runtime, args, options) => {
    if (lacksUrl(options))
      return misuse("error: --method, --header, --body and --claims are about a request; give --url\n");
    if (options.url === undefined) requireIds(args, runtime);
    else if (args.length > 0) return misuse("error: give IDs, or --url\n");
    const { table: path, layout: name, json } = options;
    const gateway = options.gateway === undefined ? undefined : openGateway(options, runtime);
    if (options.url !== undefined && gateway !== undefined) return explainUrl(runtime, options, gateway);
    const file = gateway ? await readRevision(gateway, undefined, compile) : await openTableFile(path, runtime);
    const table = file?.table;
    if (options.url !== undefined) return explainUrl(runtime, options, table);
    const layouts = knownLayouts(table);
    const named = name === undefined ? ok(undefined) : findLayout(name, layouts);
    if (!named.ok) return misuse(`error: ${named.error} (--layout)\n`);
    const hint = named.value;
    const enabled = hint && table?.layouts.get(hint.name)?.layout;
    if (hint !== undefined) runtime.report(hintNote(hint, enabled, name));
    else if (table === undefined)
      runtime.report("no routing table: reading IDs by every built-in layout; no route is shown\n");
    const routed = hint === undefined || enabled !== undefined ? file : undefined;
    const reading = { ports: { publicIds: openerOf(runtime) }, layoutName: enabled?.name };
    const explainOne = async (text: string): Promise<Explained> => {
      if (routed === undefined && hint !== undefined) return explainNamed(text, hint, runtime.nowMs());
      if (routed === undefined) return explainBare(text, layouts, runtime.nowMs());
      const { id, onPath, owner } = locate(routed.table, text);
      const unrouted = { reason: "unrouted-path", path: onPath ?? text } as const;
      if (id === undefined) return { text, candidates: [], forms: [], decision: undefined, error: unrouted };
      const byTable = () => explainByTable(routed, { id, onPath }, { ...reading, nowMs: runtime.nowMs() });
      if (gateway === undefined) return byTable();
      const { explanation, revision } = answerOf(gateway, await gateway.explain(id, reading.layoutName));
      if (owner !== undefined) {
        // The gateway explains an ID as on /any: it counts for a path only where the path's owner takes the ID too.
        const here = byTable();
        const isLed = explanation.decision?.entity === owner.name;
        if (!isLed || (here.error !== undefined && owner.public === undefined)) return here;
      }
      const isOther =
        explanation.decision !== undefined && revision !== (routed as PublishedTable<CompiledTable>).revision;
      return withRule(explanation, isOther ? await readRevision(gateway, revision, compile) : routed);
    };
    return eachId(args, runtime, async (id, index) => {
      const explained = await explainOne(id);
      const explanation = routed === undefined ? explained : withOtherLayouts(explained, routed.table, runtime.nowMs());
      const { error } = explanation;
      if (json) return { data: jsonText(plainOf(explanation)), report: "", failed: error !== undefined };
      const asked = { given: id, file: routed, isByGateway: gateway !== undefined };
      const text = formatExplanation(explanation, routed?.table, layouts, runtime);
      return {
        data: index > 0 && text !== "" ? `\n${text}` : text,
        report: (error === undefined ? "" : formatError(error)) + formatHints(explanation, asked, runtime),
        failed: error !== undefined,
      };
    });
  },
});

/** `enabled`: the layout of --layout in the table. */
const hintNote = (hint: Layout, enabled: Layout | undefined, name: string | undefined): string =>
  enabled === undefined
    ? `reading IDs only as ${hint.name}; no route is shown\n`
    : `reading IDs only as ${enabled.name}, as with id-layout: ${name}\n`;

/** The ID in a URL or a path. A text alone is read as on `/any`, so that all commands and the gateway decide alike. */
const locate = (
  table: CompiledTable,
  text: string,
): { readonly id: string | undefined; readonly onPath?: string; readonly owner?: Entity | undefined } => {
  const [, path] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(text) ?? [];
  if (path === undefined) return { id: text };
  const [, byId] = /^\/(?:any|-\/ids)\/([^/]*)/.exec(path) ?? [];
  if (byId !== undefined) return { id: byId };
  const match = table.paths.match(path);
  return { id: match && path.slice(match.idStart, match.idEnd), onPath: path, owner: match?.entity };
};

/** The layouts that read the ID though the table does not allow them, and what to add. */
const otherLayoutsHint = (
  { error, notAllowed = [] }: Explained,
  { name, table }: TableFile<CompiledTable>,
  given: string,
): string => {
  const [first] = notAllowed;
  if (first === undefined || error === undefined || !("id" in error)) return "";
  const owner =
    locate(table, given).owner?.name ?? (table.entities.size === 1 ? [...table.entities.keys()][0] : undefined);
  const place = owner === undefined ? "the `ids` of its entity" : `/entities/${owner}/ids`;
  const isSure = notAllowed.length === 1;
  return [
    `it can be read as ${notAllowed.join(", ")}, ${isSure ? "which" : "of which"} ${escapeControls(name)} `,
    `${isSure ? "does not allow" : "allows none"}; \`${bareCommand(error.id)}\` shows its fields\n`,
    `to allow ${isSure ? "it" : "the right one"}, add ${isSure ? "" : "it as in "}{ "layout": "${first}" } to ${place}, and a route for it\n`,
  ].join("");
};

interface Asked {
  readonly given: string;
  readonly file: TableFile<CompiledTable> | undefined;
  /** Whether a running gateway explained it. */
  readonly isByGateway: boolean;
}

const formatHints = (explained: Explained, { given, file, isByGateway }: Asked, runtime: Runtime): string => {
  const { text, candidates, error, decision, almost = [], otherTimes = [], publicOf = [] } = explained;
  const ways = otherTimes.map((name) => `--layout ${name}`).join(" or ");
  const times = `only the time in it rules out ${otherTimes.join(", ")}; confirm with ${ways}\n`;
  const open = `\`waybill public open --entity ${publicOf[0]} ${shellWord(escapeControls(text))}\` can tell, with the keys`;
  const paths = candidates.flatMap(({ layout, entity = "" }) => {
    const owner = layout === LUUID_SHORT ? file?.table.entities.get(entity) : undefined;
    return (owner && patternFor(owner, LUUID_SHORT)?.replace(":id", text)) ?? [];
  });
  const isPublic = publicOf.includes(decision?.entity ?? "");
  const near = almost.map(
    ({ layout, error: fault, text: meant }) =>
      `${layout} almost reads it: ${parseErrorSentence(fault)}; did you mean ${escapeControls(meant)}?\n`,
  );
  return (
    near.join("") +
    (file === undefined ? "" : otherLayoutsHint(explained, file, given)) +
    (error?.reason === "directory-unavailable" && !isByGateway ? askGatewayHint(runtime) : "") +
    (error === undefined || otherTimes.length === 0 ? "" : times) +
    (error === undefined || paths.length === 0
      ? ""
      : `it may be a short key: explain ${[...new Set(paths)].join(" or ")}\n`) +
    (publicOf.length === 0 || isPublic ? "" : `it looks like a public ID of ${publicOf.join(", ")}; ${open}\n`)
  );
};
