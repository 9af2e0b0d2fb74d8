import type { OpenApiPart } from "../../../routes/feature.ts";
import { pathParameter } from "../../../routes/openapi/paths.ts";
import { type Operation, operation, ref, VIEWERS, WHOLE } from "../../../routes/openapi/table.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "./table/format.ts";

const SHA256 = {
  name: "sha256",
  in: "path",
  required: true,
  description: "SHA-256 of the pack's header in lower-case hex, as the table names the pack.",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
};

const pack = (name: string, summary: string, parameters: readonly object[], more: Partial<Operation>): object => ({
  tags: ["table"],
  security: VIEWERS,
  ...operation({ name, summary, parameters, content: ref("StoredPack"), ...more }),
});

const putPack = (name: string, summary: string, parameters: readonly object[], maxLength: number): object =>
  pack(name, summary, parameters, {
    body: { "application/octet-stream": { schema: { type: "string", maxLength } } },
    description: "It was there already",
    also: { 201: { description: "It was stored", content: ref("StoredPack") } },
  });

export const openapi: OpenApiPart = {
  paths: {
    "/-/table/packs/{sha256}": {
      get: pack("pack", "The stored and the missing parts of a pack", [SHA256], {
        description: "Its stored parts",
      }),
      put: putPack("putPackHeader", "Store the header of a pack, before its pages", [SHA256], HEADER_BYTES_MAX),
    },
    "/-/table/packs/{sha256}/{page}": {
      put: putPack("putPackPage", "Store a page of a pack", [SHA256, pathParameter("page", WHOLE)], PAGE_BYTES_MAX),
    },
  },
};
