import fc from "fast-check";
import { expect, it } from "vitest";
import type { Directory } from "../../../src/features/directory/port.ts";
import type { Packs } from "../../../src/features/packs/port.ts";
import {
  type DecideInput,
  decideAny,
  decidePath,
  type Outcome,
  type TableCanary,
} from "../../../src/gateway/decide.ts";
import { decideLoading } from "../../../src/gateway/loading.ts";
import { err, ok } from "../../../src/ids/result.ts";
import { load, NOW_MS } from "../tables.ts";

/** Decisions by directories against what the documents say, for random contents, modes, failures, overrides and canaries. */

const UUIDS = ["919108f7-52d1-4320-9bac-f847db4148a8", "919108f7-52d1-4320-9bac-f847db4148a9"] as const;
const SLUGS = ["a", "münchen"] as const;
const MODES = ["write-only", "verify", "serve"] as const;

interface Rules {
  readonly slug: (typeof MODES)[number];
  readonly old: (typeof MODES)[number];
  readonly fallback: "eu" | "us";
  readonly moved: string | undefined;
  readonly regions: readonly string[];
}

const tableOf = ({ slug, old, fallback, moved, regions }: Rules) =>
  load({
    regions: Object.fromEntries(regions.map((name) => [name, { origins: [{ url: `http://${name}.test` }] }])),
    entities: {
      shop: { path: "/shops/:id", directory: "slug" },
      order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }] },
    },
    withoutId: { shops: { path: ["/**"], sources: [{ region: fallback }] } },
    directory: { slug: { key: { text: "lower" }, mode: slug }, old: { key: { layout: "uuid-v4" }, mode: old } },
    routes: [{ when: { layout: "uuid-v4" }, directory: "old" }],
    default: fallback,
    ...(moved === undefined ? {} : { moved: { [moved]: fallback === "eu" ? "us" : "eu" } }),
  });

type Content = Readonly<Record<string, string | "absent" | "failed">>;

/** One table's decision about a path, told as simply as possible. */
const expected = (rules: Rules, content: Content, kind: "slug" | "old", key: string): string => {
  if (kind === "old" && rules.moved === key) return rules.fallback === "eu" ? "us" : "eu";
  if (rules[kind] !== "serve") return kind === "slug" ? "without-id" : rules.fallback;
  const said = content[`${kind} ${key}`] ?? "absent";
  if (said === "absent") return "unknown-key";
  if (said === "failed") return "directory-unavailable";
  return rules.regions.includes(said) ? said : "unassigned-key";
};

const shown = (outcome: Outcome | { readonly kind: "error"; readonly error: { readonly reason: string } }): string => {
  if (outcome.kind === "region") return outcome.decision.target.region.name;
  return outcome.kind === "error" ? outcome.error.reason : outcome.kind;
};

const rulesOf = fc.record({
  slug: fc.constantFrom(...MODES),
  old: fc.constantFrom(...MODES),
  fallback: fc.constantFrom("eu" as const, "us" as const),
  moved: fc.constantFrom(undefined, undefined, UUIDS[0]),
  regions: fc.constantFrom(["eu", "us"], ["eu", "us", "ap"]),
});
const said = fc.constantFrom("eu", "us", "ap", "absent", "failed");
const contentOf = fc.record({
  ...Object.fromEntries(SLUGS.map((slug) => [`slug ${slug}`, said])),
  ...Object.fromEntries(UUIDS.map((uuid) => [`old ${uuid}`, said])),
}) as fc.Arbitrary<Content>;
const asked = fc.oneof(
  fc
    .constantFrom(...SLUGS)
    .map((key) => ({ kind: "slug" as const, key, path: `/shops/${encodeURIComponent(key.toUpperCase())}` })),
  fc.constantFrom(...UUIDS).map((key) => ({ kind: "old" as const, key, path: `/orders/${key}/items` })),
  fc.constantFrom(...UUIDS).map((key) => ({ kind: "old" as const, key, path: `/any/${key.toUpperCase()}` })),
);

it("a request goes to the one region that the tables and directories say, or is the problem that they say", async () => {
  await fc.assert(
    fc.asyncProperty(
      rulesOf,
      rulesOf,
      fc.constantFrom("none", "all", "shop", "nothing"),
      contentOf,
      asked,
      async (rules, next, canaryOf, content, { kind, key, path }) => {
        const table = tableOf(rules);
        const canary: TableCanary | undefined =
          canaryOf === "none"
            ? undefined
            : { table: tableOf(next), matches: () => canaryOf === "all", ownsEntity: (name) => canaryOf === name };
        const looked: string[] = [];
        const directory: Directory = {
          compared: () => undefined,
          forget: async () => undefined,
          forgetMany: () => undefined,
          lookup: async ({ name }: { readonly name: string }, text: string) => {
            looked.push(`${name} ${text}`);
            const region = content[`${name} ${text}`] ?? "absent";
            if (region === "failed") {
              return err({
                reason: "directory-unavailable",
                directory: name,
                retryAfterSeconds: 2,
                why: "failed",
              } as const);
            }
            return ok(
              region === "absent"
                ? ({ state: "absent", source: "object" } as const)
                : ({ state: "found", region, source: "object" } as const),
            );
          },
        };
        const packs: Packs = {
          open: async () => ok(undefined),
          load: async () => err({ reason: "table-unavailable", why: "none" } as const),
        };
        const input: DecideInput = {
          tables: { table, canary },
          ports: { publicIds: { open: () => ok(undefined) } },
          layoutName: undefined,
          nowMs: NOW_MS,
        };
        const decide = path.startsWith("/any/") ? decideAny : decidePath;
        const outcome = await decideLoading<Outcome>({ packs, directory }, (found) =>
          decide({ ...input, found }, path),
        );
        const entity = kind === "slug" ? "shop" : "order";
        const stable = expected(rules, content, kind, key);
        // The canary decides for an entity of its own, or where the table in force has decided on a region.
        const owns = canary?.ownsEntity(entity) === true;
        const takes = canaryOf === "all" && ["eu", "us", "ap"].includes(stable);
        expect(shown(outcome)).toBe(owns || takes ? expected(next, content, kind, key) : stable);
        expect(new Set(looked).size).toBe(looked.length);
        expect(looked.every((one) => one === `${kind} ${key}`)).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});
