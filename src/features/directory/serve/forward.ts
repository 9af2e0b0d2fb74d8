import { type DecideInput, decideAny, decidePath } from "../../../gateway/decide.ts";
import type { Deliver, Respond, ServeFeature } from "../../../gateway/feature.ts";
import { decideFor } from "../../../gateway/loading.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { Gateway, MovedKey, MovedMemory } from "../../../ports/gateway.ts";
import type { OriginResponse } from "../../../proxy/attempt.ts";
import type { CompiledTable, Decision, IdDecision, Rule } from "../../../routing/index.ts";
import { ANY_PREFIX } from "../../../routing/lookup/paths.ts";
import { splitOutsideQuotes, unescaped } from "../../../routing/lookup/values.ts";
import type { ClaimOutcome } from "../port.ts";
import { isFilled, newKeyOf, regionInDirectory } from "../table/compile.ts";
import { decodeSegment } from "../table/normalise.ts";
import { isOwner } from "../table/owner.ts";
import type { DirectoryPlan } from "../table/types.ts";
import { isMissingKey, TEXT_KEY } from "../table/types.ts";

/** A forwarded request's work for directories: moves that origins report, keys that they register, comparisons. */

export const directory: ServeFeature = {
  name: "directory",
  steps: ({ directories }, _, method) => {
    if (directories === undefined) return undefined;
    const isOfAll = REGISTERING.has(method) || directories.fills === true;
    const rules = isOfAll ? {} : { rules: BY_DIRECTORY };
    return { ...rules, holdsAnswer: mayRegister, deliver: deliverLearning, respond: respondKeyed };
  },
  verify: compareVerified,
};

/** Methods whose answers register keys. */
const REGISTERING: ReadonlySet<string> = new Set(["POST", "PUT"]);

/** Keys are registered by whole answers. */
const mayRegister = ({ method }: Pick<RequestContext, "method">): boolean => REGISTERING.has(method);

const BY_DIRECTORY: ReadonlySet<Rule["kind"]> = new Set(["directory"]);

/** Whether the answer may change a directory, or has to say how its region was found. */
const isKeyed = (context: RequestContext, { target }: Decision): boolean =>
  REGISTERING.has(context.method) || target.rule.kind === "directory" || context.table?.directories?.fills === true;

function deliverLearning(next: Deliver): Deliver {
  return (context, proxied, ports) => {
    const { decision } = proxied;
    const table = context.table as CompiledTable;
    return next(context, proxied, isKeyed(context, decision) ? learningGateway(context, table, decision) : ports);
  };
}

function respondKeyed(next: Respond): Respond {
  return (context, table, decision, answer) => {
    if (!isKeyed(context, decision)) return next(context, table, decision, answer);
    return registerKeys(context, table, decision, answer)
      .then(() => next(context, table, decision, answer))
      .then((response) => markState(decision, response));
  };
}

type Plans = NonNullable<CompiledTable["directories"]>;

/** The directory by which the decision was made; or the only one that does not serve yet and learns of such IDs meanwhile. */
function planBehind(directories: Plans, { target: { rule }, layout, entity }: IdDecision): DirectoryPlan | undefined {
  if (rule.kind === "directory") return directories.get(rule.directory);
  if (rule.kind === "moved" || entity.reading?.hides === true) return undefined;
  let found: DirectoryPlan | undefined;
  for (const plan of directories.values()) {
    if (plan.layout?.name !== layout || !isFilled(plan)) continue;
    if (found !== undefined) return undefined;
    found = plan;
  }
  return found;
}

/**
 * The gateway for a request with a key of a directory: a 421 that is followed is told to the directory too. One that does not
 * serve yet is filled so, with the ID as the key's owner.
 */
function learningGateway(context: RequestContext, table: CompiledTable, decision: Decision): Gateway {
  const { gateway } = context;
  if (decision.by === "region") return gateway;
  const { canonical, entity, layout, target } = decision;
  const plan = table.directories && planBehind(table.directories, decision);
  if (plan?.learnsMoves !== true) return gateway;
  const at = { directory: plan.name, key: layout === TEXT_KEY ? decodeURIComponent(canonical) : canonical };
  const memory = gateway.movedMemory;
  const learn = async (from: string, region: string): Promise<void> => {
    const { directoryTruth } = gateway;
    const isFilled = target.rule.kind !== "directory";
    const claim = { ...at, owner: canonical, operation: "421", region };
    const filled = isFilled ? await directoryTruth.register(claim) : undefined;
    const isKnown = filled?.ok !== true || filled.value.state !== "done";
    const [old, now] = [from, region].map((name) => regionInDirectory(entity, name)) as [string, string];
    const learned = isKnown ? await directoryTruth.learn(at, old, now) : filled;
    await gateway.directory.forget(at.directory, at.key);
    gateway.counters.count("directory_updates", plan.name, "learn", learned.ok ? "done" : "failed");
  };
  const movedMemory: MovedMemory = {
    isEmpty: memory?.isEmpty ?? true,
    recall: (key) => memory?.recall(key),
    remember(key: MovedKey, region: string, seconds: number): void {
      memory?.remember(key, region, seconds);
      context.waitUntil(learn(key.decided, region));
    },
    forget: (key) => memory?.forget(key),
  };
  return { ...gateway, movedMemory };
}

/** In an answer to POST or PUT: keys of the entity that was created, such as `slug=my-shop, email=ann%40example.com`. */
const REGISTER_FIELD = "waybill-register";

/** In an answer to a client: the directory could not say for certain where the entity is. */
const STATE_FIELD = "waybill-directory";

const REGISTER_CHARACTERS_MAX = 4_096;
const REGISTER_KEYS_MAX = 8;

/** A name and a value, percent-encoded: bare or as a quoted-string (RFC 9110 §5.6.4) of ASCII. */
const PAIR = /^([A-Za-z][A-Za-z0-9_-]*)=(?:([!#-+\--:<-~]+)|"((?:[\t !#-[\]-~]|\\[\t -~])*)")$/;

type Pair = { readonly name: string; readonly value: string };

const readPair = (text: string): Pair | undefined => {
  const [, name, bare, quoted] = PAIR.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { name, value: bare ?? unescaped(quoted ?? "") };
};

/** The parts of a list: empty ones say nothing (RFC 9110 §5.6.1.2). */
const partsOf = (text: string, separator: "," | ";"): readonly string[] =>
  splitOutsideQuotes(text, separator).filter((part) => part !== "");

interface RegisterItem {
  readonly directory: string;
  /** Both still percent-encoded. */
  readonly key: string;
  readonly owner: string | undefined;
}

/** `my-shop` and `42` of `slug=my-shop; owner=42`. Names of parameters know no case (RFC 9110 §5.6.6). */
const readItem = (text: string): RegisterItem | undefined => {
  const [key, ...parameters] = partsOf(text, ";").map(readPair);
  const [owner, ...others] = parameters;
  if (key === undefined || others.length > 0) return undefined;
  if (parameters.length === 1 && owner?.name.toLowerCase() !== "owner") return undefined;
  return { directory: key.name, key: key.value, owner: owner?.value };
};

const decodeOwner = (text: string): string | undefined => {
  try {
    const owner = decodeURIComponent(text);
    return isOwner(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
};

/** Registers the origin's keys before the client has the answer, so that a key is known when it is used. */
async function registerKeys(
  { gateway, method }: RequestContext,
  { directories }: CompiledTable,
  decision: Decision,
  { response, region }: OriginResponse,
): Promise<void> {
  const text = response.headers.get(REGISTER_FIELD);
  if (text === null || !response.ok || (method !== "POST" && method !== "PUT")) return;
  const count = (directory: string, outcome: ClaimOutcome["state"] | "failed" | "unsigned" | "invalid"): void =>
    gateway.counters.count("directory_updates", directory, "register", outcome);
  const items = text.length > REGISTER_CHARACTERS_MAX ? [] : partsOf(text, ",").map(readItem);
  if (items.length === 0 || items.length > REGISTER_KEYS_MAX) return count("", "invalid");
  const ownerOfAll = decision.by === "id" ? decision.canonical : undefined;
  const registered = items.map(async (item) => {
    const owner = item?.owner === undefined ? ownerOfAll : decodeOwner(item.owner);
    const plan = directories?.get(item?.directory ?? "");
    const decoded = decodeSegment(item?.key ?? "", plan?.slash);
    const key = plan === undefined || !decoded.ok ? undefined : newKeyOf(plan, decoded.value);
    // Names of an origin that no table has must not become labels.
    if (plan === undefined || key?.ok !== true || owner === undefined) return count(plan?.name ?? "", "invalid");
    // An origin proves itself by being asked: a signed request went to the address that the table names, and this is its answer.
    if (gateway.sign === undefined) return count(plan.name, "unsigned");
    const claim = {
      directory: plan.name,
      key: key.value,
      owner,
      operation: REGISTER_FIELD,
      region: regionInDirectory(decision.entity, region.name),
    };
    const outcome = await gateway.directoryTruth.register(claim);
    await gateway.directory.forget(plan.name, key.value);
    count(plan.name, outcome.ok ? outcome.value.state : "failed");
  });
  await Promise.all(registered);
}

/** Marks an answer whose region no layer of the directory could say for certain, or whose key it has not. */
function markState({ target: { rule } }: Decision, answer: Response): Response {
  if (rule.kind !== "directory" || rule.state === undefined || answer.status === 101) return answer;
  const marked = new Response(answer.body, answer);
  marked.headers.set(STATE_FIELD, rule.state);
  return marked;
}

/** The decision of the directories to verify, beside the region that the request goes to. */
async function compareVerified(
  context: RequestContext,
  verified: CompiledTable,
  { target: { region } }: Decision,
): Promise<void> {
  const { gateway, path, request } = context;
  const decide = path.startsWith(ANY_PREFIX) ? decideAny : decidePath;
  const layoutName = request.headers.get("id-layout") ?? undefined;
  let asked: DirectoryPlan | undefined;
  const decideAndNote = (input: DecideInput) => {
    const decided = decide(input, path);
    if (decided.kind === "load" && isMissingKey(decided.missing)) asked = decided.missing.plan;
    return decided;
  };
  const outcome = await decideFor(context, { table: verified, canary: undefined }, decideAndNote, layoutName);
  // The rest of the table decides about it in both modes.
  if (asked?.mode !== "verify") return;
  const said = outcome.kind === "region" ? outcome.decision.target.region.name : undefined;
  const isUnknown = outcome.kind === "error" && outcome.error.reason === "unknown-key";
  gateway.directory.compared({
    directory: asked.name,
    outcome: said === region.name ? "same" : said !== undefined ? "differs" : isUnknown ? "unknown" : "failed",
    entity: outcome.kind === "region" ? outcome.decision.entity.name : undefined,
    decided: region.name,
    said,
  });
}
