import { type Context, Hono } from "hono";
import * as v from "valibot";
import { requireScope } from "../../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, openLimited, type PageEnv, respond } from "../../../../routes/lib/http.ts";
import { ENTITY_TAG, malformed, readJson, wholeNumber } from "../../../../routes/table/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Gateway, ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError, RequestError } from "../../../problems/index.ts";
import type { DirectoryEntry, DirectoryKey } from "../port.ts";
import { type ClaimAction, type ClaimedKey, changeKey, claimKeys, type KeyChange } from "../serve/claims.ts";
import { keyOf, newKeyOf } from "../table/compile.ts";
import { decodeSegment } from "../table/normalise.ts";
import { ownerSchema as owner } from "../table/row.ts";
import { DIRECTORY_SHARDS } from "../table/shard.ts";
import type { DirectoryPlan } from "../table/types.ts";

const PREFIX = "/-/directory";

/** Keys of one entity that are claimed at once. */
const KEYS_MAX = 16;
const BODY_BYTES_MAX = 64 * 1024;
const LEASE_SECONDS_MAX = 3_600;
/** As long as a transaction at an origin may take, retries included. */
const LEASE_SECONDS = 300;
const ORPHANS_MAX = 1_000;

/** A Worker's invocation has six connections. */
const SHARDS_AT_ONCE = 6;

/**
 * `/-/directory`: keys are read, claimed in two phases, moved and removed. All of it is decided by the Durable Objects; no
 * cache is asked. A refusal goes by scope alone, before any key is read: it cannot tell whether a key exists.
 */
export const directory = (gateway: Gateway) => {
  const readers = requireScope(gateway, "viewer", "directory");
  const writers = requireScope(gateway, "directory");
  const support = requireScope(gateway, "support", "directory");
  const ofKey: typeof readers = (c, next) => (c.req.query("key") === undefined ? readers : support)(c, next);
  return new Hono<PageEnv>()
    .get(PREFIX, readers, async (c) => {
      const served = await openLimited(contextOf(c), "lookup");
      if (served instanceof Response) return served;
      return jsonResponse({ directories: [...plansOf(served).values()].map(showPlan) });
    })
    .post(PREFIX, writers, (c) => claimSeveral(c, gateway))
    .get(`${PREFIX}/:name`, ofKey, async (c) => {
      if (c.req.query("only") === "orphans") return listOrphans(c, gateway);
      if (c.req.query("key") !== undefined) return withStoredKey(c, (at) => showKey(c, at));
      const detail = "For a whole directory, add `?only=orphans` or `/-/export` to the path; for a key, the key.";
      return contextOf(c).fail(malformed(detail).error);
    })
    .delete(`${PREFIX}/:name`, writers, (c) => withStoredKey(c, (at) => removeKey(c, at)))
    .get(`${PREFIX}/:name/:key`, support, (c) => withKey(c, (at) => showKey(c, at)))
    .put(`${PREFIX}/:name/:key`, writers, (c) =>
      withKey(c, async (at, served) => {
        const version = versionIn(c);
        if (!version.ok) return contextOf(c).fail(version.error);
        return version.value === undefined
          ? reserve(c, gateway, at, served)
          : move(c, gateway, at, served, version.value);
      }),
    )
    .post(`${PREFIX}/:name/:key`, writers, (c) => withKey(c, (at, served) => act(c, gateway, at, served)))
    .delete(`${PREFIX}/:name/:key`, writers, (c) => withKey(c, (at) => removeKey(c, at)));

  async function showKey(c: Context, at: DirectoryKey): Promise<Response> {
    const found = await gateway.directoryTruth.get(at);
    const entry = found.ok && found.value === undefined ? absent(at) : found;
    return respond(c, entry, (value) => entryResponse(at.directory, value as DirectoryEntry));
  }

  function removeKey(c: Context, at: DirectoryKey): Promise<Response> {
    return change(c, gateway, at, { kind: "remove" }, () => new Response(null, { status: 204 }));
  }
};

const operation = v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/, "An operation is 1 to 128 visible ASCII characters."));
const leaseSeconds = v.optional(
  v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(LEASE_SECONDS_MAX)),
  LEASE_SECONDS,
);
const RESERVE = { owner, operation, region: v.string(), leaseSeconds };

const RESERVE_BODY = v.strictObject({ ...RESERVE });
const ACTION = v.variant("action", [
  v.strictObject({ action: v.literal("reserve"), ...RESERVE }),
  v.strictObject({ action: v.picklist(["confirm", "release"]), owner, operation }),
  v.strictObject({ action: v.literal("missing") }),
]);
const keys = v.pipe(
  v.array(v.strictObject({ directory: v.string(), key: v.string() })),
  v.minLength(1),
  v.maxLength(KEYS_MAX),
);
const SEVERAL = v.variant("action", [
  v.strictObject({ action: v.literal("reserve"), ...RESERVE, keys }),
  v.strictObject({ action: v.picklist(["confirm", "release"]), owner, operation, keys }),
]);
const MOVE = v.strictObject({ region: v.string() });

/** A region alone is the body of a move. */
const PUT_BODY = v.lazy((json) => (v.is(MOVE, json) ? MOVE : RESERVE_BODY));

async function reserve(c: Context, gateway: Gateway, at: DirectoryKey, served: ServedTable): Promise<Response> {
  const body = await readJson(c.req.raw, PUT_BODY, BODY_BYTES_MAX);
  if (!body.ok) return contextOf(c).fail(body.error);
  const { json } = body.value;
  if (!("owner" in json)) return contextOf(c).fail({ reason: "precondition-required" });
  return claim(c, gateway, served, { ...json, action: "reserve", keys: [at] }, showOne);
}

async function move(c: Context, gateway: Gateway, at: DirectoryKey, served: ServedTable, version: number) {
  const body = await readJson(c.req.raw, MOVE, BODY_BYTES_MAX);
  const region = body.ok ? knownRegion(served, body.value.json.region) : body;
  if (!region.ok) return contextOf(c).fail(region.error);
  const moved = await changeKey(gateway, at, version, { kind: "move", region: region.value });
  return respond(c, moved, (entry) => entryResponse(at.directory, entry as DirectoryEntry));
}

async function act(c: Context, gateway: Gateway, at: DirectoryKey, served: ServedTable): Promise<Response> {
  const body = await readJson(c.req.raw, ACTION, BODY_BYTES_MAX);
  if (!body.ok) return contextOf(c).fail(body.error);
  const { json } = body.value;
  if (json.action !== "missing") return claim(c, gateway, served, { ...json, keys: [at] }, showOne);
  return change(c, gateway, at, { kind: "missing" }, (entry) => entryResponse(at.directory, entry as DirectoryEntry));
}

/** A change by the version in `if-match`. */
async function change(
  c: Context,
  gateway: Gateway,
  at: DirectoryKey,
  kind: KeyChange,
  show: (entry: DirectoryEntry | undefined) => Response,
): Promise<Response> {
  const version = versionIn(c);
  if (!version.ok) return contextOf(c).fail(version.error);
  if (version.value === undefined) return contextOf(c).fail({ reason: "precondition-required" });
  return respond(c, await changeKey(gateway, at, version.value, kind), show);
}

/** Several keys of one entity at once, also of several directories. */
async function claimSeveral(c: Context, gateway: Gateway): Promise<Response> {
  const context = contextOf(c);
  const served = await openLimited(context, "lookup");
  if (served instanceof Response) return served;
  const body = await readJson(c.req.raw, SEVERAL, BODY_BYTES_MAX);
  if (!body.ok) return context.fail(body.error);
  const { keys: named, ...wanted } = body.value.json;
  const found: DirectoryKey[] = [];
  for (const { directory: name, key: text } of named) {
    const at = keyIn(served, name, ok(text), newKeyOf);
    if (!at.ok) return context.fail(at.error);
    if (found.some(({ directory: other, key }) => other === at.value.directory && key === at.value.key)) {
      return context.fail(malformed(`The key ${JSON.stringify(text)} of ${name} is there twice.`).error);
    }
    found.push(at.value);
  }
  return claim(c, gateway, served, { ...wanted, keys: found }, showAll);
}

/** Keys of one entity, and what their owner wants with them. */
type Claim = { readonly keys: readonly DirectoryKey[]; readonly owner: string; readonly operation: string } & (
  | { readonly action: "reserve"; readonly region: string; readonly leaseSeconds: number }
  | { readonly action: "confirm" | "release" }
);

async function claim(
  c: Context,
  gateway: Gateway,
  served: ServedTable,
  wanted: Claim,
  show: (claimed: readonly ClaimedKey[]) => Response,
): Promise<Response> {
  const { keys, owner, operation } = wanted;
  const action = actionOf(wanted, served);
  if (!action.ok) return contextOf(c).fail(action.error);
  const claimed = await claimKeys(gateway, keys, { owner, operation }, action.value);
  return respond(c, claimed, (entries) =>
    wanted.action === "release" ? new Response(null, { status: 204 }) : show(entries),
  );
}

/** An entry of a list in the body is shown in one, even if it is alone. */
const showAll = (claimed: readonly ClaimedKey[]): Response =>
  jsonResponse({ keys: claimed.map(({ at, entry }) => showEntry(at.directory, entry)) });

function showOne([claimed]: readonly ClaimedKey[]): Response {
  const { at, entry } = claimed as ClaimedKey;
  return entryResponse(at.directory, entry);
}

function actionOf(wanted: Claim, served: ServedTable): Result<ClaimAction, GatewayError> {
  if (wanted.action !== "reserve") return ok({ action: wanted.action });
  const region = knownRegion(served, wanted.region);
  return region.ok ? ok({ action: "reserve", region: region.value, leaseMs: wanted.leaseSeconds * 1000 }) : region;
}

/** Keys that nothing routes to, or whose entity is missing: of all shards, a page at a time. */
async function listOrphans(c: Context, gateway: Gateway): Promise<Response> {
  const context = contextOf(c);
  const served = await openLimited(context, "lookup");
  if (served instanceof Response) return served;
  const [, name = ""] = context.path.slice(PREFIX.length).split("/");
  const plan = planNamed(served, name);
  if (!plan.ok) return context.fail(plan.error);
  const limit = wholeNumber(c.req.query("limit") ?? "100");
  const [, from, after = ""] = /^(\d{1,3}):(.*)$/su.exec(c.req.query("after") ?? "0:") ?? [];
  const first = Number(from ?? Number.NaN);
  if (limit === undefined || limit < 1 || limit > ORPHANS_MAX || !(first < DIRECTORY_SHARDS)) {
    return context.fail(
      malformed(`\`limit\` is 1 to ${ORPHANS_MAX}, \`after\` the \`next\` of the page before.`).error,
    );
  }
  const entries: DirectoryEntry[] = [];
  for (let shard = first; shard < DIRECTORY_SHARDS; shard += SHARDS_AT_ONCE) {
    const asked = Array.from({ length: Math.min(SHARDS_AT_ONCE, DIRECTORY_SHARDS - shard) }, (_, at) =>
      gateway.directoryTruth.orphans(plan.value.name, shard + at, shard + at === first ? after : "", limit),
    );
    for (const [at, rows] of (await Promise.all(asked)).entries()) {
      if (!rows.ok) return context.fail(rows.error);
      entries.push(...rows.value.rows.slice(0, limit - entries.length));
      if (entries.length < limit) continue;
      return jsonResponse({ keys: entries.map(show(plan.value)), next: `${shard + at}:${entries.at(-1)?.key}` });
    }
  }
  return jsonResponse({ keys: entries.map(show(plan.value)) });
}

const show =
  ({ name }: DirectoryPlan) =>
  (entry: DirectoryEntry): object =>
    showEntry(name, entry);

/** The key in the path. It is decoded once, by the rule of text keys in entities' paths, and normalised. */
async function withKey(
  c: Context,
  serve: (at: DirectoryKey, served: ServedTable) => Response | Promise<Response>,
): Promise<Response> {
  const context = contextOf(c);
  const served = await openLimited(context, "lookup");
  if (served instanceof Response) return served;
  const [, name = "", raw = ""] = context.path.slice(PREFIX.length).split("/");
  const at = keyIn(served, name, decodeSegment(raw, plansOf(served).get(name)?.slash), newKeyOf);
  return at.ok ? serve(at.value, served) : context.fail(at.error);
}

/** The key in the query, which has keys too that no path has: a former version stored them. */
async function withStoredKey(c: Context, serve: (at: DirectoryKey) => Promise<Response>): Promise<Response> {
  const context = contextOf(c);
  const served = await openLimited(context, "lookup");
  if (served instanceof Response) return served;
  const [, name = ""] = context.path.slice(PREFIX.length).split("/");
  const [raw, ...others] = [...c.req.url.replace(/^[^?]*/, "").matchAll(/[?&]key=([^&#]*)/g)].map(
    ([, key = ""]) => key,
  );
  const text = raw === undefined || others.length > 0 ? undefined : decoded(raw);
  if (text === undefined) {
    return context.fail(malformed("Name one key, in the path or as `?key=` in percent-encoded UTF-8.").error);
  }
  const at = keyIn(served, name, ok(text), keyOf);
  return at.ok ? serve(at.value) : context.fail(at.error);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function keyIn(
  served: ServedTable,
  name: string,
  text: ReturnType<typeof decodeSegment>,
  read: typeof keyOf,
): Result<DirectoryKey, GatewayError> {
  const plan = planNamed(served, name);
  if (!plan.ok) return plan;
  const key = text.ok ? read(plan.value, text.value) : text;
  return key.ok ? ok({ directory: name, key: key.value }) : err({ ...key.error, directory: name });
}

/** The table in force and the canary: keys are stored before their directory serves. */
const plansOf = ({ table, canary }: ServedTable): ReadonlyMap<string, DirectoryPlan> =>
  new Map([...(canary?.table.directories ?? []), ...(table.directories ?? [])]);

export function planNamed(served: ServedTable, name: string): Result<DirectoryPlan, RequestError> {
  const plans = plansOf(served);
  const plan = plans.get(name);
  return plan === undefined
    ? err({ reason: "unknown-name", what: "directory", name, known: [...plans.keys()] })
    : ok(plan);
}

export function knownRegion({ table: { regions }, canary }: ServedTable, name: string): Result<string, RequestError> {
  if (regions.has(name) || canary?.table.regions.has(name) === true) return ok(name);
  return err({ reason: "unknown-name", what: "region", name, known: [...regions.keys()] });
}

/** `undefined` without `if-match`. */
function versionIn(c: Context): Result<number | undefined, RequestError> {
  const match = c.req.header("if-match");
  if (match === undefined) return ok(undefined);
  const [, version] = ENTITY_TAG.exec(match.trim()) ?? [];
  return version === undefined
    ? malformed('`if-match` must be one version in quotes, such as "41".')
    : ok(Number(version));
}

const absent = ({ directory: name, key }: DirectoryKey) =>
  err({ reason: "unknown-key", id: key, directory: name } as const);

const entryResponse = (name: string, entry: DirectoryEntry): Response =>
  jsonResponse(showEntry(name, entry), { etag: `"${entry.version}"` });

function showEntry(name: string, { key, region, owner: of, state, version, ...times }: DirectoryEntry): object {
  const { changedAtMs, leaseUntilMs, missingSinceMs } = times;
  const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return {
    directory: name,
    key,
    region,
    owner: of,
    state,
    version,
    changedAt: timeOf(changedAtMs),
    leaseUntil: timeOf(leaseUntilMs),
    missingSince: timeOf(missingSinceMs),
  };
}

function showPlan({ name, form, slash, layout, targets: _, fallback, unknown, ...plan }: DirectoryPlan): object {
  const key = layout === undefined ? { text: form, slash } : { layout: layout.name };
  return {
    name,
    key,
    ...plan,
    unknown: unknown?.region.name,
    onFailure: fallback === undefined ? "refuse" : { region: fallback },
  };
}
