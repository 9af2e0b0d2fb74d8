import { iuid } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** Regions with lists of orders, as functions. */

export interface Order {
  readonly id: string;
  readonly at: number;
}

const COUNTRY_OF: Readonly<Record<string, number>> = { ap: 5, us: 7, eu: 9 };

/** An order's ID: of a region by its country. `random` tells IDs of one moment apart. */
export function orderId(region: string, ms: number, random: number): string {
  const words = iuid.encode(
    Object.fromEntries(
      iuid.fields.flatMap((field): [string, number | bigint][] => {
        if (field.role === "fixed") return [];
        if (field.role === "time") return [[field.name, ms]];
        if (field.name === "country") return [[field.name, COUNTRY_OF[region] ?? 0]];
        if (field.name === "service") return [[field.name, 1]];
        const value = BigInt(random) & ((1n << BigInt(field.bits)) - 1n);
        return [[field.name, field.bits > 53 ? value : Number(value)]];
      }),
    ),
  );
  if (!words.ok) throw new Error(JSON.stringify(words.error));
  return iuid.format(words.value);
}

export const listTable = (list: object = {}, more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: { ...DECLARED_TABLE.entities.order, list: { items: "/items", order: BY_AT, next: NEXT, ...list } },
  },
  ...more,
});

export const BY_AT = { by: { member: "/at", type: "number" }, direction: "asc" } as const;
export const NEXT = { cursor: "/next", query: "after" } as const;

/** An origin of each region that pages its own array by offset. */
export const pagingOrigin =
  (data: Readonly<Record<string, readonly unknown[]>>, size: number) =>
  (request: Request): Response => {
    const url = new URL(request.url);
    const region = url.host.slice(0, 2);
    const from = Number(url.searchParams.get("after") ?? 0);
    const all = data[region] ?? [];
    const items = all.slice(from, from + size);
    return Response.json({ items, next: from + size < all.length ? String(from + size) : null });
  };

export interface Listed {
  readonly items: readonly Order[];
  readonly next: string | null;
  readonly summary: {
    readonly partial: readonly string[];
    readonly gap?: string;
    readonly regions: Readonly<Record<string, { state: string; items: number; elsewhere?: number; fault?: string }>>;
  };
}
