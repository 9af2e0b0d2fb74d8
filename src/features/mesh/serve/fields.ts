import type { Region } from "../../../routing/table.ts";

/** Fields of a request between the gateways of a mesh. */

/** Digests of published tables, by their regions. */
export const digests = new WeakMap<ReadonlyMap<string, Region>, string>();

/** A path through more gateways is taken for a loop that none of them can see. */
export const GATEWAYS_MAX = 3;

/** Marks a gateway of a mesh in `cdn-loop` (a parameter, RFC 8586 §2): other proxies there do not count. */
const MARK = ";mesh=1";

/** Names of the gateways in `cdn-loop`. */
export const gatewaysIn = (cdnLoop: string | null): readonly string[] =>
  (cdnLoop ?? "").split(",").flatMap((entry) => {
    const text = entry.replaceAll(/\s/g, "");
    return text.endsWith(MARK) ? [text.slice(0, -MARK.length)] : [];
  });

/** The gateway's own name is the last. */
export function markLoop(headers: Headers): void {
  headers.set("cdn-loop", (headers.get("cdn-loop") ?? "") + MARK);
}

/** Fields that only the entry writes, whatever a client or a proxy between the gateways sent. */
export const isOwnField = (name: string): boolean =>
  name === "forwarded" || name.startsWith("waybill-") || name.startsWith("x-forwarded-");
