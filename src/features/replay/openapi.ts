import type { OpenApiPart } from "../../../routes/feature.ts";
import { parameter } from "../../../routes/openapi/paths.ts";
import { post, WHOLE } from "../../../routes/openapi/table.ts";

const OLD_TABLE = parameter("query", "old", "A revision; by default the one in force.", WHOLE);
const NEW_TABLE = {
  name: "new",
  in: "query",
  required: true,
  description: "A revision; or `body`: the first line is an object with the `table`.",
  schema: { oneOf: [WHOLE, { const: "body" }] },
};

const LINES_TYPE = "application/x-ndjson";
const LINES = "One request a line: an object with path and method, `GET /path`, or a path.";

export const openapi: OpenApiPart = {
  paths: {
    "/-/table/replay": post(
      "replayTable",
      "Which requests of a log are routed differently by another revision, or by an unpublished table",
      { [LINES_TYPE]: { schema: { type: "string", description: LINES } } },
      { parameters: [OLD_TABLE, NEW_TABLE], content: { [LINES_TYPE]: { schema: { type: "string" } } } },
    ),
  },
};
