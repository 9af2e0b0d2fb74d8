import fc from "fast-check";
import { expect } from "vitest";
import type { ServedCanary } from "../../../src/ports/admin.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { setUp } from "../harness.ts";
import { type Listed, listTable, NEXT, orderId } from "./regions.ts";

/** Random lists of regions, read page by page over failures, held to the sorted whole. */

const REGIONS = ["eu", "us", "ap"] as const;
const MS = Date.UTC(2026, 0, 1);

type Kind = "number" | "string" | "time" | "id-time" | "none";

interface Row {
  readonly id: string;
  readonly key: string | number;
  /** The region that owns it by the table, and where a copy is left behind. */
  readonly owner: string;
  readonly left: string | undefined;
  /** The oracle sorts by it. */
  readonly rank: readonly number[];
}

const TEXTS = ["", "a", "ab", "b", "é", "\ufffd", "\u{1f600}", '"\\'];

/** The key as an origin writes it, and what it is worth. */
function keyOf(kind: Kind, value: number): { key: string | number; rank: readonly number[] } {
  if (kind === "string") {
    const key = TEXTS[value % TEXTS.length] as string;
    return { key, rank: [...new TextEncoder().encode(key)] };
  }
  if (kind === "time") {
    const at = new Date(MS + value * 500).toISOString();
    const key = value % 2 === 0 ? at : new Date(MS + value * 500 + 3_600_000).toISOString().replace("Z", "000+01:00");
    return { key, rank: [value] };
  }
  return { key: value - 3, rank: [value] };
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const other = b[at];
    if (other === undefined || value !== other) return other === undefined ? 1 : value - other;
  }
  return a.length - b.length;
}

const input = fc.record({
  kind: fc.constantFrom<Kind>("number", "string", "time", "id-time", "none"),
  isDescending: fc.boolean(),
  next: fc.constantFrom("cursor", "member", "link"),
  rows: fc.array(
    fc.record({
      key: fc.nat(7),
      born: fc.constantFrom(...REGIONS),
      moved: fc.option(fc.constantFrom(...REGIONS), { nil: undefined, freq: 5 }),
      isUnassigned: fc.boolean(),
    }),
    { maxLength: 40 },
  ),
  size: fc.integer({ min: 1, max: 9 }),
  limits: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  isLines: fc.boolean(),
  indent: fc.constantFrom(undefined, 1),
  /** Whether another table serves a part of the IDs. */
  hasCanary: fc.boolean(),
  /** The region that fails, and from which of its requests on. */
  failing: fc.option(fc.record({ region: fc.constantFrom(...REGIONS), from: fc.nat(4) }), { nil: undefined }),
});

async function readAnswer(response: Response, isLines: boolean): Promise<Listed> {
  if (!isLines) return response.json<Listed>();
  const lines = new TextDecoder()
    .decode(await response.arrayBuffer())
    .trimEnd()
    .split("\n");
  const values = lines.map((line) => JSON.parse(line));
  const { next, ...summary } = values.at(-1).summary;
  return { items: values.slice(0, -1), next, summary };
}

export const mergedProperty = fc.asyncProperty(input, async (given) => {
  const { kind, isDescending, size, limits, isLines, indent, failing } = given;
  const byCanary = new Set<string>();
  const rows = given.rows.map(({ key, born, moved }, at): Row => {
    const id = orderId(born, MS + (kind === "id-time" ? key : at % 3), at * 7919 + 13);
    const isMoved = moved !== undefined && moved !== born;
    if (given.hasCanary && !isMoved && born === "ap" && at % 2 === 0) {
      byCanary.add(id);
      return { id, ...keyOf(kind, key), owner: "us", left: "ap" };
    }
    return { id, ...keyOf(kind, key), owner: isMoved ? moved : born, left: isMoved ? born : undefined };
  });
  const sign = isDescending ? -1 : 1;
  const compare = (a: Row, b: Row) => sign * (compareRanks(a.rank, b.rank) || (a.id < b.id ? -1 : 1));
  const unassigned = given.rows.flatMap(({ key, isUnassigned }, at): Row[] =>
    isUnassigned ? [{ id: orderId("nowhere", MS + key, at), ...keyOf(kind, key), owner: "", left: "us" }] : [],
  );
  const whole = [...rows].sort(compare);
  const listOf = (region: string) =>
    [...rows, ...unassigned].filter(({ owner, left }) => owner === region || left === region).sort(compare);
  let failsFrom = failing === undefined ? Infinity : failing.from;
  let asked = 0;
  const origin = (request: Request): Response => {
    const url = new URL(request.url);
    const region = url.host.slice(0, 2);
    if (region === failing?.region && asked++ >= failsFrom) return new Response("", { status: 503 });
    const from = Number(url.searchParams.get("after") ?? 0);
    const all = listOf(region);
    const items = all.slice(from, from + size).map(({ id, key }) => ({ id, at: key, big: 1 }));
    const after = from + size < all.length ? String(from + size) : null;
    const target = `/orders?after=${after}`;
    const body = { items, next: after && (given.next === "member" ? target : given.next === "cursor" ? after : null) };
    const headers = new Headers({ "content-type": "application/json" });
    if (after !== null && given.next === "link") headers.set("link", `<${url.origin}${target}>; rel="next"`);
    return new Response(JSON.stringify(body, null, indent), { headers });
  };
  const by = kind === "id-time" ? kind : { member: "/at", type: kind };
  const declared = listTable(
    {
      pageSize: size,
      order: kind === "none" ? kind : { by, direction: isDescending ? "desc" : "asc" },
      next: given.next === "cursor" ? NEXT : given.next === "member" ? { member: "/next" } : { link: true },
    },
    {
      moved: Object.fromEntries(
        rows.flatMap(({ id, owner, left }) => (left === undefined || byCanary.has(id) ? [] : [[id, owner]])),
      ),
    },
  );
  // A cursor is good at every instance.
  const table = loadTable(declared, 1);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  // Orders of KZ are in another region by it.
  const routes = [{ when: { layout: "iuid", country: "KZ" }, region: "us" }, ...declared.routes.slice(1)];
  const other = loadTable({ ...declared, routes }, 2);
  if (!other.ok) throw new Error(JSON.stringify(other.error));
  const canary: ServedCanary = {
    table: other.value,
    label: "",
    digest: "",
    audience: { share: 50 },
    matches: ({ canonical }) => byCanary.has(canonical),
    ownsEntity: () => false,
  };
  const served = {
    source: "memory",
    digest: "",
    confirmedAtMs: 0,
    label: "",
    canary: given.hasCanary ? canary : undefined,
  } as const;
  const tables = { peek: () => ({ ...served, table: table.value }), load: () => Promise.reject(new Error("unused")) };
  const gateways = [setUp({ origin, gateway: { tables } }), setUp({ origin, gateway: { tables } })] as const;
  const headers = isLines ? { accept: "application/x-ndjson" } : {};
  const ids: string[] = [];
  const read = async (start: string | undefined): Promise<Listed> => {
    let cursor = start;
    for (let turn = 0; turn < 200; turn++) {
      const gateway = gateways[turn % 2] as (typeof gateways)[0];
      const limit = limits[turn % limits.length];
      const path = `/orders?limit=${limit}${cursor === undefined ? "" : `&cursor=${cursor}`}`;
      const response = await gateway.request(path, { headers });
      if (response.status === 503) {
        // Nothing could be had; the same cursor is good when the region is.
        failsFrom = Infinity;
        continue;
      }
      expect(response.status).toBe(200);
      const listed = await readAnswer(response, isLines);
      expect(listed.items.length).toBeLessThanOrEqual(limit as number);
      ids.push(...listed.items.map(({ id }) => id));
      if (listed.next === null) return listed;
      cursor = listed.next;
    }
    throw new Error("the list has no end");
  };
  const expected = whole.map(({ id }) => id);
  const end = await read(undefined);
  const { partial } = end.summary;
  const own = (id: string) => rows.find((row) => row.id === id)?.owner ?? "";
  const shown = [...ids];
  if (kind === "none") expect([...shown].sort()).toEqual([...new Set(shown)].sort());
  // Shown entries are in order, and only those of a missing region are left out.
  else expect(shown).toEqual(expected.filter((id) => shown.includes(id)));
  expect(expected.filter((id) => !shown.includes(id)).every((id) => partial.includes(own(id)))).toBe(true);
  if (end.summary.gap === undefined) expect(partial).toEqual([]);
  else {
    failsFrom = Infinity;
    ids.length = 0;
    const after = await read(end.summary.gap);
    expect(after.summary.partial).toEqual([]);
    const lacking = expected.filter((id) => !shown.includes(id));
    expect(kind === "none" ? [...ids].sort() : ids).toEqual(kind === "none" ? [...lacking].sort() : lacking);
  }
});
