import { Hono } from "hono";
import type { EntityPreview } from "../../src/formats/console-api.ts";
import { decideAny, decidePath } from "../../src/gateway/decide.ts";
import { serve } from "../../src/gateway/handle.ts";
import { decideFor } from "../../src/gateway/loading.ts";
import { openRequest, RequestContext } from "../../src/gateway/request.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { ServedTable } from "../../src/ports/admin.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import type { GatewayError } from "../../src/problems/index.ts";
import { parseTableText, primaryPattern, type Taken, takenIn } from "../../src/routing/index.ts";
import { pathWithId } from "../../src/routing/lookup/paths.ts";
import { hasMember, memberOf } from "../../src/routing/schema/member.ts";
import type { DeclaredEntity, DeclaredTable } from "../../src/routing/schema/table.ts";
import { requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, openLimited, type PageEnv, respond } from "../lib/http.ts";

const PREFIX = "/-/console/entity/";

/** More than a person reads; what is left is not fetched. */
const SHOWN_BYTES_MAX = 64 * 1024;

/**
 * `GET /-/console/entity/:id`: the owner's response to a GET of the entity, as data. The origin gets the request as from any
 * client without credentials. Only entities that the setting CONSOLE_PREVIEW names. `?path=`: the entity's own path with a short
 * key, or with a key of a directory.
 */
export const preview = (gateway: Gateway) =>
  new Hono<PageEnv>().get(`${PREFIX}:id`, requireScope(gateway, "support"), async (c) => {
    const context = contextOf(c);
    const served = await openLimited(context, "lookup");
    if (served instanceof Response) return served;
    const layoutName = c.req.header("id-layout");
    const id = context.path.slice(PREFIX.length);
    const found = await findEntity(context, served, { id, onPath: c.req.query("path"), layoutName });
    if (!found.ok) return context.fail(found.error);
    const { entity, path } = found.value;
    // Before the origin is asked: it would learn who is looked at.
    if (gateway.console?.mayPreview(entity) !== true) return context.fail({ reason: "forbidden", why: "no-preview" });
    const beganMs = gateway.clock.nowMs();
    const { inner, response } = await readAsClient(context, path, layoutName);
    const contentType = response.headers.get("content-type");
    const isJson = contentType !== null && /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType);
    const body = isJson ? await readStart(response) : undefined;
    if (!isJson) void response.body?.cancel();
    const view: EntityPreview = {
      entity,
      region: inner.region ?? null,
      path,
      status: response.status,
      contentType,
      text: body?.text ?? null,
      truncated: body?.isCut === true,
      ms: gateway.clock.nowMs() - beganMs,
      ...(body && { bytes: body.bytes }),
    };
    return jsonResponse(view, { "waybill-table": context.tableLabel ?? "" });
  });

interface AskedEntity {
  readonly id: string;
  readonly onPath: string | undefined;
  readonly layoutName: string | undefined;
}

/** The entity's name, and the path on which its origin has it. */
async function findEntity(
  context: RequestContext,
  served: ServedTable,
  { id, onPath, layoutName }: AskedEntity,
): Promise<Result<{ readonly entity: string; readonly path: string }, GatewayError>> {
  const decideOn = (path: string) => decideFor(context, served, (input) => decidePath(input, path), layoutName);
  const anyPath = `/any/${id}`;
  const first =
    onPath === undefined
      ? await decideFor(context, served, (input) => decideAny(input, anyPath), layoutName)
      : await decideOn(onPath);
  const path = onPath ?? (first.kind === "redirect" ? first.path : anyPath);
  const outcome = first.kind === "redirect" ? await decideOn(path) : first;
  if (outcome.kind === "error") return err(outcome.error);
  if (outcome.kind !== "region") return err({ reason: "not-found", path: context.path });
  const { entity, layout } = outcome.decision;
  // The setting allows the entity itself, and not what is below it.
  if (onPath !== undefined && onPath !== pathWithId(primaryPattern(entity, layout) ?? "", id)) {
    return err({ reason: "not-found", path: context.path });
  }
  return ok({ entity: entity.name, path });
}

/** Nothing of the console's request goes along: no cookie, no token, no address. Another layout could be another entity. */
async function readAsClient({ gateway, request, waitUntil }: RequestContext, path: string, layoutName?: string) {
  const { url, signal } = request;
  const hint = layoutName === undefined ? {} : { "id-layout": layoutName };
  const own = new Request(new URL(path, url), { headers: { accept: "application/json", ...hint }, signal });
  const inner = new RequestContext(gateway, own, { waitUntil });
  // No client's request: it is not among the figures of traffic.
  inner.isOwn = true;
  inner.span = undefined;
  const response = await serve(inner);
  inner.log(response.status);
  return { inner, response };
}

interface StartOfBody {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** The first bytes of a body as text. A body that breaks off ends where it broke. */
async function readStart({ body }: Response): Promise<StartOfBody> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = "";
  let left = SHOWN_BYTES_MAX;
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done)
        return { text: text + decoder.decode(), bytes: SHOWN_BYTES_MAX - left, isCut: false };
      text += decoder.decode(chunk.value.subarray(0, left), { stream: true });
      left -= chunk.value.length;
      if (left < 0) break;
    }
  } catch {
    return { text, bytes: SHOWN_BYTES_MAX - left, isCut: true };
  }
  void reader?.cancel();
  return { text, bytes: SHOWN_BYTES_MAX, isCut: true };
}

/**
 * `GET /-/console/names`: what reading an ID needs, for those who do not see the table: no region, no origin, no override, and of
 * routes only which IDs they take.
 */
export const names = (gateway: Gateway) => {
  let known: { readonly digest: string; readonly taken: Taken | undefined } | undefined;
  return new Hono<PageEnv>().get("/-/console/names", requireScope(gateway, "support"), async (c) => {
    const content = await gateway.controlPlane.text();
    if (!content.ok) return respond(c, content);
    const { bytes, revision } = content.value;
    const declared = parseTableText(new TextDecoder().decode(bytes));
    if (!declared.ok) return contextOf(c).fail({ reason: "invalid-table", faults: declared.error });
    // A published table has been checked.
    const table = declared.value as DeclaredTable;
    const { digest } = revision;
    // To compile a table takes a moment, and it is the same for all.
    if (known?.digest !== digest) known = { digest, taken: takenIn(table, revision.revision) };
    const taken = known.taken && withCanary(known.taken, table, await openRequest(contextOf(c)));
    const { entities = {}, countries = {}, layouts = {} } = table;
    const directories = Object.entries(memberOf(table, "directory") ?? {}).map(([name, each]) => [
      name,
      { key: memberOf(each, "key"), cacheSeconds: memberOf(each, "cacheSeconds") },
    ]);
    const shown = Object.entries(entities).map(([name, entity]) => [name, namesOf(entity)]);
    const entitiesShown = { entities: Object.fromEntries(shown), directory: Object.fromEntries(directories) };
    return jsonResponse({ revision: revision.revision, ...entitiesShown, countries, layouts, ...(taken && { taken }) });
  });
};

/** A canary of whole entities also decides about IDs that no route of the table takes. */
function withCanary(taken: Taken, { entities = {} }: DeclaredTable, served: ServedTable | Response): Taken {
  const canary = served instanceof Response ? undefined : served.canary;
  const owned = Object.keys(entities).filter((name) => canary?.ownsEntity(name));
  return { ...taken, named: [...new Set([...taken.named, ...owned])] };
}

/** `public` and `directory` say that the text in the path is no ID of the layouts. */
const namesOf = (entity: DeclaredEntity): object => {
  const { path, ids } = entity;
  const others = ["public", "directory"].filter((name) => hasMember(entity, name));
  return { path, ids, ...Object.fromEntries(others.map((name) => [name, memberOf(entity, name)])) };
};
