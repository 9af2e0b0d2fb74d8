import { luuid } from "../ids/index.ts";
import type { Result } from "../ids/result.ts";
import type { Gateway } from "../ports.ts";
import { publicReference } from "../proxy/public-ids/location.ts";
import { publicResponse } from "../proxy/public-ids/response.ts";
import { type CompiledTable, type Decision, type Entity, primaryPattern } from "../routing/index.ts";

/** The origin's answer with public IDs in place of internal ones; or why it cannot be shown. */
export function rewriteResponse(
  gateway: Pick<Gateway, "publicIds" | "clock" | "logBrokenBody">,
  table: CompiledTable,
  { entity, layout }: Decision,
  requestUrl: string,
  answer: Response,
): Result<Response, string> {
  const shown = (of: Entity | undefined, internal: string): string | null | undefined => {
    if (of?.public === undefined) return undefined;
    const text = gateway.publicIds.show(of, internal);
    if (text.ok && text.value !== undefined) return text.value;
    return mayBePrimaryKey(of, internal) ? null : undefined;
  };
  return publicResponse(answer, {
    paths: entity.publicFields,
    toPublic: (name, internal) => shown(table.entities.get(name), internal),
    toPublicReference: (reference) =>
      publicReference(reference, {
        table,
        nowMs: gateway.clock.nowMs(),
        path: ownPath(entity, layout, new URL(requestUrl).pathname),
        show: shown,
      }),
    keepsTag: entity.public === undefined && entity.publicFields === undefined,
    otherBodies: entity.otherBodies,
    onBroken: ({ reason }) => gateway.logBrokenBody(entity.name, reason),
  });
}

const ANY = /^\/any\/([^/]*)/;

/** The entity's own path, also of a request that came through `/any`. */
const ownPath = (entity: Entity, layout: string, path: string): string =>
  path.replace(ANY, (_, id: string) => (primaryPattern(entity, layout) ?? "").replace(":id", () => id));

/**
 * Whether a text may be an LUUID's primary key: in hex, as in a short key, or in decimal. It counts entities, and cannot be
 * made public without the random bits of its ID.
 */
const mayBePrimaryKey = ({ ids }: Entity, text: string): boolean =>
  ids[0]?.enabled.layout === luuid && /^[0-9A-Fa-f]{1,15}$/.test(text);
