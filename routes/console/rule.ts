import { Hono } from "hono";
import { lineOf } from "../../src/formats/console/positions.ts";
import type { RuleView } from "../../src/formats/console-api.ts";
import { pointerOf, valueAt } from "../../src/formats/console-pointers.ts";
import type { TableRevision } from "../../src/formats/table-api.ts";
import { PAGE_ENTRIES_MAX } from "../../src/formats/table-requests.ts";
import { decidePath, type Outcome } from "../../src/gateway/decide.ts";
import { explainId } from "../../src/gateway/explain-id.ts";
import { decideFor } from "../../src/gateway/loading.ts";
import type { RevisionContent } from "../../src/ports/admin.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { type IdDecision, parseTableText } from "../../src/routing/index.ts";
import { pointerTo } from "../../src/routing/schema/faults.ts";
import { callerOf, requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, openLimited, type PageEnv, respond } from "../lib/http.ts";

const PREFIX = "/-/console/rule/";

/** Most revisions searched for the one that moved an entity. */
const REVISIONS_MAX = 1_000;

/**
 * `GET /-/console/rule/:id`: the one entry of the table that decides about an ID, where it stands, and who wrote it when the
 * entity was moved. `?path=`: the path that the ID stands on. Only
 * operators learn the rule of a public ID; the internal ID is never shown.
 */
export const rule = (gateway: Gateway) =>
  new Hono<PageEnv>().get(`${PREFIX}:id`, requireScope(gateway, "support"), async (c) => {
    const context = contextOf(c);
    const served = await openLimited(context, "lookup");
    if (served instanceof Response) return served;
    const id = context.path.slice(PREFIX.length);
    const path = c.req.query("path");
    const isOperator = callerOf(c).scope === "operator";
    const decided = await decideFor<Outcome | ReturnType<typeof explainId>>(
      context,
      served,
      (input) => (path === undefined ? explainId(input, id, isOperator) : decidePath(input, path)),
      c.req.header("id-layout"),
    );
    if (decided.kind === "error") return context.fail(decided.error);
    const decision = "decided" in decided ? decided.decided : decided.kind === "region" ? decided.decision : undefined;
    const isPublic = decision?.entity.reading?.hides === true;
    if (decision === undefined || (isPublic && !isOperator)) {
      return context.fail({ reason: "not-found", path: context.path });
    }
    const revision = (decided.byCanary ? served.canary?.table : served.table)?.revision;
    const content = await gateway.controlPlane.text(revision);
    if (!content.ok) return respond(c, content);
    const texts = new Set(isPublic ? [] : [decision.id, decision.canonical]);
    if (decided.kind === "explanation") for (const { text } of decided.explanation.forms) texts.add(text);
    return jsonResponse(await ruleView(gateway, decision, content.value, texts));
  });

async function ruleView(
  gateway: Gateway,
  { entity, target }: IdDecision,
  { bytes, revision }: RevisionContent,
  texts: ReadonlySet<string>,
): Promise<RuleView> {
  const text = new TextDecoder().decode(bytes);
  const { rule: own, region } = target;
  const declared = jsonOf(text);
  const part = own.kind === "moved" ? "moved" : own.kind === "moving" ? "moves" : undefined;
  // A short key is moved by an entry of its whole ID, which only the codec can tell.
  const key = part && Object.keys(Object(Object(declared)[part])).find((name) => texts.has(name));
  const pointer = pointerOf(own, key ?? "");
  const wrote = part === undefined || key === undefined ? undefined : await writtenBy(gateway, revision, part, key);
  return {
    revision: revision.revision,
    entity: entity.name,
    region: region.name,
    rule: own,
    pointer,
    line: lineOf(text, pointer) ?? null,
    entry: valueAt(declared, entryOf(pointer)) ?? null,
    since: wrote === undefined ? null : { ...shown(wrote.by), isExact: wrote.isExact },
  };
}

/** A route's canary leads to the whole route. */
const entryOf = (pointer: string): string => pointer.split("/").slice(0, 3).join("/");

const shown = ({ revision, author, time, note }: TableRevision) => ({ revision, author, time: time ?? null, note });

function jsonOf(text: string): unknown {
  const json = parseTableText(text);
  return json.ok ? json.value : undefined;
}

/**
 * The revision that wrote the entry of an ID, by halving: texts are long. `isExact`: false where it may be an older one, which
 * is not looked through.
 */
async function writtenBy(
  { controlPlane }: Gateway,
  current: TableRevision,
  part: string,
  key: string,
): Promise<{ readonly by: TableRevision; readonly isExact: boolean } | undefined> {
  const known: TableRevision[] = [current];
  let isWhole = false;
  while (!isWhole && known.length < REVISIONS_MAX) {
    const before = known.at(-1)?.revision ?? 0;
    const page = await controlPlane.revisions({ before, limit: PAGE_ENTRIES_MAX });
    if (!page.ok) return undefined;
    // A canary was in force for some IDs alone.
    known.push(...page.value.filter(({ kind }) => kind !== "canary"));
    isWhole = page.value.length < PAGE_ENTRIES_MAX;
  }
  const entryIn = async (revision: number): Promise<string | undefined> => {
    const content = await controlPlane.text(revision);
    if (!content.ok) return undefined;
    const declared = jsonOf(new TextDecoder().decode(content.value.bytes));
    return JSON.stringify(valueAt(declared, pointerTo([part, key])));
  };
  const own = await entryIn(current.revision);
  // Newest first: `same` has the entry, `other` does not.
  let same = 0;
  let other = known.length;
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if ((await entryIn(known[middle]?.revision ?? 0)) === own) same = middle;
    else other = middle;
  }
  const by = known[same];
  return by && { by, isExact: other < known.length || isWhole };
}
