import type { OpenApiPart } from "../../../routes/feature.ts";
import { ANY_RESPONSES, parameter, withOwnParameters } from "../../../routes/openapi/paths.ts";
import type { List } from "./table/types.ts";

/** The paths with GET to the lists of the table. */
export const openapi: OpenApiPart = {
  withPaths(paths, { lists }) {
    const all: Record<string, object> = { ...paths };
    for (const list of lists?.values() ?? []) {
      all[list.path] = { ...withOwnParameters(all[list.path] ?? {}), get: listOperation(list) };
    }
    return all;
  },
};

const text = (description: string) => ({ description, schema: { type: "string" } });

function listOperation({ entity, limit, cursorQuery, filters, answer }: List): object {
  const names = Object.values(filters).filter((name) => name !== undefined);
  const properties = {
    [answer.items]: { type: "array", items: {} },
    [answer.next]: { type: ["string", "null"], description: "The cursor of what comes next." },
    [answer.summary]: {
      type: "object",
      description: "`partial`: regions that failed. `gap`: a cursor for what they lack.",
    },
  };
  const content = { "application/json": { schema: { type: "object", properties } }, "application/x-ndjson": {} };
  return {
    operationId: `list_${entity.name}`,
    tags: ["entities"],
    summary: `Lists every ${entity.name}, merged over all regions`,
    security: [],
    parameters: [
      {
        name: limit.query,
        in: "query",
        schema: { type: "integer", minimum: 1, maximum: limit.max, default: limit.default },
      },
      parameter("query", cursorQuery, "Cursor of the answer before."),
      ...names.map((name) => parameter("query", name, "Leaves regions out.")),
    ],
    responses: {
      "200": {
        description: "The items. Without its summary an answer was cut off.",
        headers: { "waybill-partial": text("Regions that had failed when the answer began.") },
        content,
      },
      default: { ...ANY_RESPONSES.default, description: "A problem of the gateway, or what all origins answered." },
    },
  };
}
