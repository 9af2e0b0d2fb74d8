import type { OpenApiPart } from "../../../routes/feature.ts";
import { ANY_BODY, ANY_RESPONSES, parameter, templateOf, withOwnParameters } from "../../../routes/openapi/paths.ts";
import type { Create } from "./table/types.ts";

/** The paths with POST to the collections of the table. Other methods of the same path may need no ID. */
export const openapi: OpenApiPart = {
  withPaths(paths, { creates }) {
    const all: Record<string, object> = { ...paths };
    for (const create of creates?.byEntity.values() ?? []) {
      const { path, parameters } = templateOf(create.paths[0]);
      all[path] = { ...withOwnParameters(all[path] ?? {}), post: createOperation(create, parameters) };
    }
    return all;
  },
};

const text = (description: string) => ({ description, schema: { type: "string" } });

const CREATED_FIELDS = {
  location: text("The path of the new entity."),
  "waybill-entity-id": text("Its ID; of several all, with commas."),
  "waybill-retry": text("With a key: same-key or new-key, and never for what the gateway refuses."),
  "waybill-key-until": text("With a key: when it ends, an HTTP date."),
  "idempotent-replayed": text("true: an earlier attempt created the entity, and this is its response."),
  "waybill-lost-fields": text("With idempotent-replayed: fields of that response that could not be kept."),
};

function createOperation(create: Create, ofPath: readonly object[]): object {
  const { entity, bulk } = create;
  const what = bulk === undefined ? `one ${entity.name}` : `1 to ${bulk.max} entities ${entity.name}`;
  const schema = { description: `The list is at /${bulk?.path.join("/")}.` };
  return {
    operationId: `create_${entity.name}`,
    tags: ["entities"],
    summary: `Creates ${what}, in the region of the new ID`,
    security: [],
    parameters: [...ofPath, ...fieldsOf(create)],
    ...(bulk === undefined
      ? ANY_BODY
      : { requestBody: { required: true, content: { "application/json": { schema } } } }),
    responses: {
      "201": { ...ANY_RESPONSES["2XX"], headers: CREATED_FIELDS },
      ...ANY_RESPONSES,
    },
  };
}

/** Request headers, each once: what the key is taken from, what makes retries safe, and the client's own ID. */
function fieldsOf({ key, idempotency, clientId }: Create): readonly object[] {
  const fields = new Map<string, object>();
  for (const [field, sources] of key) {
    for (const source of sources) {
      if (source.kind !== "header" || source.header === "authorization") continue;
      const limits = source.values === undefined ? {} : { enum: [...source.values.keys()] };
      const said = parameter("header", source.header, `Says the ${field} of the new ID.`, limits);
      fields.set(source.header, sources.length === 1 && clientId === undefined ? { ...said, required: true } : said);
    }
  }
  const once = "A retry with the same key and the same request creates nothing twice.";
  const keyField = parameter("header", "idempotency-key", once, { minLength: 1, maxLength: 512 });
  fields.set("idempotency-key", idempotency.isRequired ? { ...keyField, required: true } : keyField);
  if (clientId?.header !== undefined) {
    fields.set(clientId.header, parameter("header", clientId.header, "The new ID, where the client makes it."));
  }
  if (clientId?.clock !== undefined) {
    fields.set(clientId.clock.header, parameter("header", clientId.clock.header, "The client's time, Unix ms."));
  }
  return [...fields.values()];
}
