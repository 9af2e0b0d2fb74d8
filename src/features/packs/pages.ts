import { type Context, Hono } from "hono";
import type { PageFeature } from "../../../routes/feature.ts";
import { callerOf, requireOperator, requireScope } from "../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, readBytes, respond } from "../../../routes/lib/http.ts";
import { wholeNumber } from "../../../routes/table/request.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { MovedValues } from "../../ports/moving.ts";
import { openapi } from "./openapi.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "./table/format.ts";
import { packKey, pageKey, readHeader } from "./table/pack.ts";
import { declaredPacks } from "./table/schema.ts";

/** `/-/table/packs`: the upload of packs, before the table that names them. */
export function tablePacks(gateway: Gateway) {
  const { controlPlane } = gateway;
  const put = async (c: Context, part: "header" | number | undefined): Promise<Response> => {
    const sha256 = packOf(c);
    if (sha256 === undefined || part === undefined) return notFound(c);
    const bytes = await readBytes(c.req.raw, part === "header" ? HEADER_BYTES_MAX : PAGE_BYTES_MAX);
    if (!bytes.ok) return respond(c, bytes);
    const receipt = await controlPlane.putPackPart({ sha256, part, author: callerOf(c).name }, bytes.value);
    return respond(c, receipt, ({ pack, isNew }) => jsonResponse(pack, {}, isNew ? 201 : 200));
  };
  return new Hono()
    .get("/-/table/packs/:sha256", requireScope(gateway, "viewer"), async (c) => {
      const sha256 = packOf(c);
      return sha256 === undefined ? notFound(c) : respond(c, await controlPlane.packStatus(sha256));
    })
    .put("/-/table/packs/:sha256", requireOperator(gateway, "pack", packOf), (c) => put(c, "header"))
    .put("/-/table/packs/:sha256/:page", requireOperator(gateway, "pack", packOf), (c) =>
      put(c, wholeNumber(c.req.param("page"))),
    );
}

function packOf(c: Context): string | undefined {
  const sha256 = c.req.param("sha256");
  return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}

const notFound = (c: Context): Response => contextOf(c).fail({ reason: "not-found", path: c.req.path });

const PART = /^pack\.([0-9a-f]{64})(?:\.(?:0|[1-9][0-9]{0,5}))?$/;

/** Packs in an export of the state. A pack that KV lacks is left out: its table could not be published here either. */
const movedPacks: MovedValues = {
  async keysOf(text, { read, sha256 }) {
    const keys: string[] = [];
    for (const [, declared] of declaredPacks(text)) {
      const bytes = await read(packKey(declared.sha256));
      const header = bytes && (await readHeader(bytes, sha256, declared.sha256));
      if (!header?.ok) continue;
      // A reader of the header finds every page.
      for (const { number } of header.value.pages) keys.push(pageKey(declared.sha256, number));
      keys.push(packKey(declared.sha256));
    }
    return keys;
  },
  async faultOf(key, bytes, { sha256 }) {
    const digest = PART.exec(key)?.[1];
    if (digest === undefined) return false;
    // Isolates verify a page by the digest in its header.
    if (key !== packKey(digest)) return bytes.length > PAGE_BYTES_MAX ? "it is no page of a pack" : undefined;
    const header = bytes.length > HEADER_BYTES_MAX ? undefined : await readHeader(bytes, sha256, digest);
    return header?.ok ? undefined : "it is no header of that pack";
  },
};

export const packPages: PageFeature = {
  name: "packs",
  pages: [tablePacks],
  openapi,
  moved: { values: movedPacks },
};
