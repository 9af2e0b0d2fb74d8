import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../src/routing/pack/format.ts";
import type { Paths } from "./openapi-paths.ts";

/** The pages of packs under `/-/table/packs`, as OpenAPI 3.1 describes them. */

const SHA256 = {
  name: "sha256",
  in: "path",
  required: true,
  description: "SHA-256 of the pack's header in lower-case hex, as the table names the pack.",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
};
const PAGE = { name: "page", in: "path", required: true, schema: { type: "integer", minimum: 0 } };

const PACK_STATUS = {
  type: "object",
  required: ["sha256", "header", "pages", "missing", "whole"],
  properties: {
    sha256: SHA256.schema,
    header: { type: "boolean", description: "Whether the header is known." },
    pages: { type: ["integer", "null"], description: "How many the pack has; null without its header." },
    missing: { type: ["array", "null"], items: { type: "integer" }, description: "Numbers of the pages to send." },
    whole: { type: "boolean", description: "Whether a table that names the pack can be published." },
  },
};

/** `problem`: the responses of every operation; `security`: who may see, and change. */
export function packPaths(problem: object, security: readonly object[]): Paths {
  const shown = (description: string) => ({ description, content: { "application/json": { schema: PACK_STATUS } } });
  const common = { tags: ["table"], security };
  const put = (operationId: string, summary: string, parameters: readonly object[], bytesMax: number): object => ({
    ...common,
    ...{ operationId, summary, parameters },
    requestBody: {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", maxLength: bytesMax } } },
    },
    responses: { 200: shown("It was there already"), 201: shown("It was stored"), ...problem },
  });
  return {
    "/-/table/packs/{sha256}": {
      get: {
        ...common,
        ...{ operationId: "pack", summary: "What is stored of a pack, and what is missing", parameters: [SHA256] },
        responses: { 200: shown("What is stored of it"), ...problem },
      },
      put: put("putPackHeader", "Store the header of a pack, before its pages", [SHA256], HEADER_BYTES_MAX),
    },
    "/-/table/packs/{sha256}/{page}": {
      put: put("putPackPage", "Store a page of a pack", [SHA256, PAGE], PAGE_BYTES_MAX),
    },
  };
}
