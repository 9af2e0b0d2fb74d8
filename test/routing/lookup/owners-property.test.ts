import fc from "fast-check";
import { expect, test } from "vitest";
import { isMissingKey } from "../../../src/features/directory/table/types.ts";
import { decidePath } from "../../../src/gateway/decide.ts";
import { err } from "../../../src/ids/result.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { takesMethod } from "../../../src/routing/lookup/choice.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { NOW_MS } from "../tables.ts";

/** The owner of a request, held to lists that are read anew for each: pattern by pattern, then host, then method. */

interface Owner {
  readonly name: string;
  readonly paths: readonly string[];
  readonly methods?: readonly string[];
  readonly hosts?: readonly string[];
  readonly otherMethods?: "next";
}

/** With `!`: no path below. */
const ENTITY_PATHS = ["/a/:id", "/a/b/:id", "/a/:id!", "/a/*/:id", "/b/:id/a!", "/b/:id"];
const ENTRY_PATHS = ["/a", "/a/*", "/a/*/**", "/a/b", "/a/b/*", "/*", "/**", "/*/b", "/a/**", "/b/*/a", "/b/**"];

const ownerOf = (paths: readonly string[]): fc.Arbitrary<Omit<Owner, "name">> =>
  fc
    .record({
      paths: fc.subarray([...paths], { minLength: 1, maxLength: 3 }),
      methods: fc.option(fc.subarray(["GET", "POST", "PUT"], { minLength: 1 }), { freq: 2 }),
      hosts: fc.option(fc.subarray(["h.x", "*.x", "g.x"], { minLength: 1 }), { freq: 2 }),
      goesOn: fc.boolean(),
    })
    .map(({ paths: own, methods, hosts, goesOn }) => ({
      paths: own,
      ...(methods && { methods, ...(goesOn && { otherMethods: "next" as const }) }),
      ...(hosts && { hosts }),
    }));

const request = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE"),
  servedHost: fc.constantFrom("h.x", "G.x:80", "k.x.", "y"),
  path: fc
    .array(fc.constantFrom("a", "b", "c", "zz"), { minLength: 1, maxLength: 4 })
    .map((segments) => `/${segments.join("/")}`),
});
type Asked = { readonly method: string; readonly servedHost: string; readonly path: string };

const segmentsOf = (path: string) => path.split("/").slice(1);
const rankOf = (segment = "") => ["", "*", "**"].indexOf(segment);

/** Literal text first, segment by segment. */
const inOrder = (a: string, b: string): number => {
  const left = segmentsOf(a);
  const right = segmentsOf(b);
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = Math.max(rankOf(left[at]), 0) - Math.max(rankOf(right[at]), 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

const takes = (pattern: string, path: string): boolean => {
  const own = segmentsOf(pattern);
  const segments = segmentsOf(path);
  const isLong = own.at(-1) === "**" ? segments.length >= own.length : segments.length === own.length;
  return isLong && own.every((segment, at) => rankOf(segment) > 0 || segment === segments[at]);
};

const hostRank = ({ hosts }: Owner, { servedHost }: Asked): number => {
  const host = servedHost.toLowerCase().replace(/:\d+$|\.$/, "");
  return hosts === undefined ? 0 : hosts.includes(host) ? 2 : hosts.includes(host.replace(/^[^.]+/, "*")) ? 1 : -1;
};

const choose = (owners: readonly Owner[], asked: Asked, hostRankMin = 0) => {
  const patterns = [...new Set(owners.flatMap(({ paths }) => paths))].filter((each) => takes(each, asked.path));
  let isPassed = false;
  for (const pattern of patterns.sort(inOrder)) {
    const rivals = owners.filter(({ paths }) => paths.includes(pattern));
    const rank = Math.max(...rivals.map((each) => hostRank(each, asked)));
    const here = rivals.filter((each) => rank >= hostRankMin && hostRank(each, asked) === rank);
    if (here.length === 0) continue;
    const method = asked.method === "HEAD" ? "GET" : asked.method;
    const taker = here.find(({ methods }) => methods?.includes(method)) ?? here.find(({ methods }) => !methods);
    if (taker !== undefined) return { taker, isPassed };
    if (here.every(({ otherMethods }) => otherMethods === undefined)) return { refusedFor: rank, isPassed };
    isPassed = true;
  }
  return { isPassed };
};

/** `/x/**` is `/x/*` and `/x/*` with `/**` behind it. */
const isWithin = (pattern: string, patterns: readonly string[]): boolean => {
  const parts = pattern.endsWith("/**") ? [pattern.slice(0, -1), `${pattern.slice(0, -1)}/**`] : [pattern];
  const isOpen = (each: string): boolean => each.endsWith("/**");
  return parts.every((part) => patterns.some((own) => takes(own, part) && (isOpen(own) || !isOpen(part))));
};

/** Entities first; an entry beside them takes what they refuse on their own paths. */
const expected = (entities: readonly Owner[], entries: readonly Owner[], asked: Asked): string => {
  const own = choose(entities, asked);
  if (own.taker !== undefined) return own.taker.name;
  if (own.refusedFor !== undefined) {
    // With all below, a pattern that ends with `*` is one that ends with `**`.
    const all = entities.flatMap(({ paths }) =>
      paths.flatMap((path) => (paths.includes(`${path}/**`) ? [path, path.replace(/\*$/, "**")] : [path])),
    );
    const beside = entries.map((each) => ({ ...each, paths: each.paths.filter((path) => isWithin(path, all)) }));
    return choose(beside, asked, own.refusedFor).taker?.name ?? "method-not-allowed";
  }
  const other = choose(entries, asked);
  const isListed = own.isPassed || other.isPassed || other.refusedFor !== undefined;
  return other.taker?.name ?? (isListed ? "method-not-allowed" : "unrouted-path");
};

const decided = (table: CompiledTable, asked: Asked): string => {
  const publicIds = { open: () => err({ reason: "public-ids-unavailable", why: "no-keys" } as const) };
  const input = { ports: { publicIds } };
  const outcome = decidePath(
    {
      ...input,
      tables: { table, canary: undefined },
      layoutName: undefined,
      nowMs: NOW_MS,
      asked: { ...asked, preflightFor: undefined },
    },
    asked.path,
  );
  switch (outcome.kind) {
    case "load":
      return isMissingKey(outcome.missing) ? outcome.missing.decision.entity.name : "a page";
    case "without-id": {
      const { entry } = outcome;
      return takesMethod(entry, { ...asked, preflightFor: undefined }) ? entry.entity.name : "method-not-allowed";
    }
    case "error":
      return outcome.error.reason;
    default:
      return outcome.kind;
  }
};

test("each request has the owner that its path, host and method give it", () => {
  let count = 0;
  const owners = (paths: readonly string[], max: number) => fc.array(ownerOf(paths), { minLength: 1, maxLength: max });
  const requests = fc.array(request, { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(owners(ENTITY_PATHS, 2), owners(ENTRY_PATHS, 3), requests, (entities, entries, all) => {
      const pathOf = (path: string) => (path.endsWith("!") ? { path: path.slice(0, -1), below: false } : path);
      const declared = (each: (typeof entities)[number]) => ({
        ...each,
        paths: undefined,
        path: each.paths.map(pathOf),
      });
      const loaded = loadTable(
        JSON.parse(
          JSON.stringify({
            regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
            directory: { keys: { key: { text: "nfc" } } },
            entities: Object.fromEntries(
              entities.map((each, at) => [`entity${at}`, { ...declared(each), directory: "keys" }]),
            ),
            routes: [],
            sources: [{ region: "eu" }],
            withoutId: Object.fromEntries(entries.map((each, at) => [`entry${at}`, declared(each)])),
          }),
        ),
        1,
      );
      // Most tables have two owners of one request.
      if (!loaded.ok) return;
      count++;
      const named = entities.map((each, at) => {
        const paths = each.paths.flatMap((path) => {
          const pattern = path.replace(":id", "*").replace("!", "");
          return path.endsWith("!") ? [pattern] : [pattern, `${pattern}/**`];
        });
        return { ...each, name: `entity${at}`, paths };
      });
      const others = entries.map((each, at) => ({ ...each, name: `entry${at}` }));
      for (const asked of all)
        expect([asked, decided(loaded.value, asked)]).toEqual([asked, expected(named, others, asked)]);
    }),
    { numRuns: runs(600) },
  );
  expect(count).toBeGreaterThan(10);
});
