import type { RuleView } from "../../../formats/console-api.ts";
import type { Candidate, Rule } from "../../../routing/index.ts";
import type { DeclaredRoute } from "../../../routing/schema/table.ts";
import { slugOf } from "../../app/api.ts";
import { ownOf } from "../../app/own.ts";
import type { KnownTable } from "../../app/session.ts";
import type { Part } from "../../routing/condition-words.ts";
import type { Asked, WholePath } from "../ask.ts";
import type { Reader, Reading } from "../reader.ts";
import { problemStatus, refusalWords } from "./refusals.ts";

/** The first sentence about an ID: where it goes, what requests get, or why nothing can be said yet. Pure. */

export interface Verdict {
  readonly kind: "goes" | "refused" | "reads-as" | "open";
  /** Before the code, such as `Goes to`. */
  readonly lead: string;
  /** A region, a status, a layout, or `?`. */
  readonly code: string;
  /** Two or three words about it. */
  readonly state?: { readonly mood: "bad" | "plain" | "warn"; readonly text: string };
  readonly because: readonly Part[];
  /** The entry of the table that decides. */
  readonly rule?: DecidingRule | undefined;
  /** The slug of the problem. */
  readonly problem?: string | undefined;
  /** More sentences, each of its own. */
  readonly more: readonly string[];
}

export interface DecidingRule {
  readonly rule: Rule;
  /** Counted from 1. */
  readonly number: number | undefined;
  readonly line: number | undefined;
  readonly revision: number | undefined;
  readonly route: DeclaredRoute | undefined;
}

export interface VerdictOf {
  readonly reader: Reader;
  /** By the page. */
  readonly reading: Reading;
  readonly asked: Asked | undefined;
  /** The table that decided, for those who see it. */
  readonly table: KnownTable | undefined;
  readonly chosen: Candidate | undefined;
  /** The entity whose keys the path names, such as `shop`. */
  readonly keyOf?: { readonly entity: string; readonly directory: string } | undefined;
}

// Those of `routing/` come with the table.
const plain = (text: string): Part => ({ text });
const strong = (text: string): Part => ({ text, isStrong: true });

export function verdictOf(of: VerdictOf): Verdict {
  const { asked, reading } = of;
  const decided: Reading = asked?.explanation ?? reading;
  const whole = asked?.whole;
  if (whole?.problem !== undefined) return refusedBy(whole.problem);
  const region = asked?.explanation.learned?.region ?? whole?.region ?? decided.decision?.region;
  if (region !== undefined) return goesTo(of, region, decided);
  const reason = decided.error?.reason;
  const words = refusalWords(reason);
  if (reason !== undefined && words !== undefined && (asked === undefined || whole === undefined))
    return refusedByTable(of, reason, words, decided);
  return asked === undefined ? openVerdict(of) : readsAs(of);
}

const refusedBy = ({ type, title, detail, status }: NonNullable<WholePath["problem"]>): Verdict => {
  const slug = slugOf(type);
  return {
    kind: "refused",
    lead: "Requests get",
    code: String(status ?? problemStatus(slug) ?? "an error"),
    state: { mood: "bad", text: refusalWords(slug) ?? title },
    because: [plain(detail)],
    problem: slug,
    more: [],
  };
};

function goesTo(of: VerdictOf, region: string, decided: Reading): Verdict {
  const { asked, chosen } = of;
  const rule = decidingRule(of, decided);
  const canary = chosen?.canary;
  const shadow = decided.decision?.shadow;
  const learned = asked?.explanation.learned?.region;
  const more = [
    canary &&
      `${canary.percent} % of such IDs go to ${canary.region}. This one is at ${canary.takesFrom} %, so it is ${canary.takesFrom <= canary.percent ? "" : "not "}among them.`,
    shadow && `${shadow.percent} % of its reads are also sent to ${shadow.region}.`,
  ].filter((text) => typeof text === "string");
  const because =
    learned === undefined || learned === decided.decision?.region
      ? [plain("because "), ...sentenceOf(of, decided, rule), plain(".")]
      : [
          plain("because an origin said that it is in "),
          strong(learned),
          plain(`. Requests go there first. The table says ${decided.decision?.region ?? "nothing"}.`),
        ];
  return { kind: "goes", lead: "Goes to", code: region, because, rule, more };
}

/** The deciding rule and where it stands: as the gateway says, else by the table in the page. */
function decidingRule({ reader, asked, table }: VerdictOf, reading: Reading): DecidingRule | undefined {
  if (asked?.why !== undefined) {
    const { rule, line, revision } = asked.why;
    return { rule, number: numberOf(rule), line: line ?? undefined, revision, route: routeIn(asked.why) };
  }
  const rule = reading.decision?.rule;
  if (rule === undefined) return undefined;
  const entry = table && reader.words?.entry(rule, [reading.text, ...reading.forms.map(({ text }) => text)]);
  const own = { rule, number: numberOf(rule), revision: table?.revision ?? asked?.revision };
  return { ...own, line: entry && table?.lineOf(entry.pointer), route: entry?.route };
}

const numberOf = (rule: Rule): number | undefined => ("index" in rule ? rule.index + 1 : undefined);

/** A rule of a route has the route as its entry. */
const routeIn = ({ rule, entry }: RuleView): DeclaredRoute | undefined =>
  rule.kind === "route" || rule.kind === "canary" ? (entry as DeclaredRoute) : undefined;

/** Behind "because". */
function sentenceOf(of: VerdictOf, decided: Reading, deciding: DecidingRule | undefined): readonly Part[] {
  const { reader, asked, chosen } = of;
  const entity = decided.decision?.entity ?? chosen?.entity ?? asked?.why?.entity ?? asked?.whole?.owner ?? "entity";
  const rule = deciding?.rule;
  if (rule === undefined) {
    const source = asked?.whole?.source;
    return source === undefined ? [plain("the gateway says so")] : [plain("the request says it: "), strong(source)];
  }
  switch (rule.kind) {
    case "moved":
      return [plain(`this very ${entity} `), strong("moved"), plain(" there")];
    case "moving":
      return movingWords(entity, decided.decision?.move);
    case "default":
      return [plain("no route names it, and this is the default region")];
    case "source":
      return [plain("the request, not the ID, says the region")];
    case "canary":
      return [plain("the canary of "), strong(`route ${rule.index + 1}`), plain(" takes it")];
    case "route": {
      const known = reader.words?.sentence(rule.index, deciding?.route, pluralOf(entity));
      const words = known ?? [strong(`route ${rule.index + 1}`), plain(" takes it")];
      return [...words, ...partWords(rule)];
    }
    default:
      return featureWords(rule);
  }
}

function movingWords(entity: string, move: { readonly to: string; readonly state: string } | undefined) {
  const begin = plain(`a move of this very ${entity} is in progress: `);
  if (move === undefined) return [begin, plain("it has not left yet")];
  const fence = move.state === "fenced" ? ". Only reads are forwarded until then" : "";
  return [begin, plain("it is still there, and goes to "), strong(move.to), plain(fence)];
}

function partWords({ part, ...rule }: { readonly part?: number }): readonly Part[] {
  const pack = textIn(rule, "pack");
  return [
    ...(part === undefined ? [] : [plain("; this one is in part "), strong(String(part))]),
    ...(pack !== undefined ? [plain("; pack "), strong(pack), plain(" has its key")] : []),
  ];
}

const DOUBTS: Readonly<Record<string, string>> = {
  stale: ". It does not answer now: this is what it said last",
  default: " which region is for times when it does not answer, as now",
  unknown: " which region is for unknown keys, and it has no such key",
};

/** A rule of a feature names its entry by its own kind. */
function featureWords(rule: Rule): readonly Part[] {
  const entry = textIn(rule, rule.kind);
  const doubt = ownOf(DOUBTS, textIn(rule, "state") ?? "") ?? "";
  return entry !== undefined
    ? [plain(`${rule.kind} `), strong(entry), plain(doubt === "" ? " says so" : ` says${doubt}`)]
    : [plain("the table says so")];
}

function textIn(rule: object, name: string): string | undefined {
  const value = ownOf(rule as Record<string, unknown>, name);
  return typeof value === "string" ? value : undefined;
}

function refusedByTable(of: VerdictOf, reason: string, words: string, decided: Reading): Verdict {
  const { reading } = of;
  const isUnsure = of.asked === undefined && reading.isUnsure === true;
  const entity = of.chosen?.entity ?? "entity";
  const more = isUnsure ? ["The table, or its canary, may name this very ID: ask the gateway."] : [];
  return {
    kind: "refused",
    lead: isUnsure ? "Requests could get" : "Requests get",
    code: String(problemStatus(reason) ?? "an error"),
    state: { mood: isUnsure ? "warn" : "bad", text: words },
    because: [plain("because "), ...whyRefused(of, entity, decided), plain(".")],
    problem: reason,
    more,
  };
}

function whyRefused({ reader }: VerdictOf, entity: string, { error }: Reading): readonly Part[] {
  if (error?.reason === "entity-gone")
    return [plain(`the table says that this ${entity} was `), strong("removed from every region")];
  if (error?.reason === "wrong-entity")
    return [plain("the path is one of "), strong(error.entity), plain(", and the ID is not")];
  if (error?.reason !== "unassigned-key") return [plain("the gateway says so")];
  const key = Object.entries(error.key ?? {}).filter(([name]) => !["service", "group", "mintedAt"].includes(name));
  const [name, value] = key[0] ?? [];
  const end = plain(". No route takes it, and the table has no default region");
  if (name === undefined || value === undefined)
    return [plain("no route takes it, and the table has no default region")];
  if (name !== "country") return [plain(`its ${name} is `), strong(value), end];
  const code = reader.country(value);
  const country = code === undefined ? strong(`number ${value}`) : strong(`${code}, number ${value}`);
  return [plain("the country in it is "), country, end];
}

/** Before the gateway is asked. */
function openVerdict({ reader, reading, chosen, keyOf }: VerdictOf): Verdict {
  const open = { kind: "open", lead: "Goes to", code: "?", more: [] } as const;
  if (reading.publicOf !== undefined) {
    return {
      ...open,
      state: { mood: "plain", text: "Sealed" },
      because: [
        plain("Only the keys of the gateway open a public ID. Ask it: you get the entity and the region, "),
        strong("not the ID inside"),
        plain("."),
      ],
    };
  }
  if (keyOf !== undefined) {
    return {
      ...open,
      state: { mood: "plain", text: "Looked up at the gateway" },
      because: [
        plain(`Keys of ${keyOf.entity} are in the directory `),
        strong(keyOf.directory),
        plain(". Ask the gateway: the directory says the region."),
      ],
    };
  }
  if (reader.knows === "nothing" || chosen?.entity === undefined) return readsAs({ reader, chosen });
  const isLoaded = reader.knows === "routes";
  return {
    ...open,
    state: { mood: "plain", text: "Not asked yet" },
    because: [
      plain(
        isLoaded
          ? "A part of the table that only the gateway has decides about it. Ask it."
          : "The page knows no routes for your role. Ask the gateway: you get the region and the rule.",
      ),
    ],
  };
}

function readsAs({ reader, chosen }: Pick<VerdictOf, "reader" | "chosen">): Verdict {
  const isBare = reader.knows === "nothing";
  return {
    kind: "reads-as",
    lead: "Reads as",
    code: chosen?.layout ?? "?",
    because: [
      plain(isBare ? "Sign in to see the entity, and where it goes." : "No entity of the table uses this layout."),
    ],
    more: [],
  };
}

/** Names of entities are English words mostly; others get a word of their own behind them. */
export function pluralOf(name: string): string {
  if (!/^[a-z]+$/.test(name)) return `${name} IDs`;
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh|z)$/.test(name) ? `${name}es` : `${name}s`;
}
