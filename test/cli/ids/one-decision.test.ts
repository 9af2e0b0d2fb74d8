import fc from "fast-check";
import { expect, test } from "vitest";
import { readOne } from "../../../src/console/lookup/read-pasted.ts";
import { readerOfTable } from "../../../src/console/lookup/table-reader.ts";
import { NO_PUBLIC_KEYS, parsePublicKeys, publicCodec } from "../../../src/features/public-ids/table/codec.ts";
import { decideAny, decideId } from "../../../src/gateway/decide.ts";
import { explainId } from "../../../src/gateway/explain-id.ts";
import { everyLayout, type Layout, textsOf } from "../../../src/ids/index.ts";
import { anyDamage, anyWords } from "../../ids/arbitraries.ts";
import { load, NOW_MS } from "../../routing/tables.ts";
import { runs } from "../../setup/property-runs.ts";
import { FakeClock, objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

/** One text has one decision: of `/any`, `/-/ids`, `locate`, `explain` and the console's reader. */

const key = (byte: string): string => btoa(byte.repeat(32));
const PUBLIC_ID_KEYS = JSON.stringify({
  sealed: [{ id: "s", key: key("s") }],
  compatible: [{ id: "c", key: key("c") }],
});
const parsed = parsePublicKeys(PUBLIC_ID_KEYS);
const keys = parsed.ok ? parsed.value : NO_PUBLIC_KEYS;

const KINDS = {
  person: { ids: [{ layout: "luuid", class: "com.example.Person" }] },
  pet: { ids: [{ layout: "luuid", group: 7 }] },
  tweet: { ids: [{ layout: "snowflake" }] },
  photo: { ids: [{ layout: "flake-id" }] },
  order: { ids: [{ layout: "iuid", service: 1 }] },
  parcel: { ids: [{ layout: "hotguid" }] },
  box: { ids: [{ layout: "uuid-v7" }, { layout: "ulid" }] },
  call: { ids: [{ layout: "flake" }] },
  file: { ids: [{ layout: "object-id" }] },
  secret: { ids: [{ layout: "ulid" }], public: true },
  ticket: { ids: [{ layout: "sonyflake" }], public: { as: "long", form: "uuid" } },
} as const;
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

const regionName = fc.constantFrom("eu", "us", "ap");

/** Some entities, each with a region, none, or a redirect from `/any`. */
const anyDeclared = fc
  .tuple(
    fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...NAMES),
        region: fc.option(regionName, { nil: undefined }),
        any: fc.constantFrom("redirect", "proxy", undefined),
      }),
      { minLength: 1, maxLength: 5, selector: ({ name }) => name },
    ),
    fc.option(regionName, { nil: undefined }),
  )
  .map(([chosen, fallback]) => ({
    regions: Object.fromEntries(
      ["eu", "us", "ap"].map((name) => [name, { origins: [{ url: `http://${name}.test` }] }]),
    ),
    entities: Object.fromEntries(
      chosen.map(({ name, any }) => [name, { path: `/${name}s/:id`, ...KINDS[name], ...(any && { any }) }]),
    ),
    routes: chosen.flatMap(({ name, region }) => (region === undefined ? [] : [{ when: { entity: name }, region }])),
    ...(fallback !== undefined && { default: fallback }),
  }));

const LAYOUTS = everyLayout.filter(({ name }) =>
  NAMES.some((kind) => KINDS[kind].ids.some(({ layout }) => layout === name)),
);

/** An ID with the layout's fixed bits and, mostly, a time of the last years. */
const anyIdOf = (layout: Layout): fc.Arbitrary<string> =>
  fc.tuple(anyWords(layout.fixed.value.length), fc.nat(), fc.boolean()).map(([random, dice, isRecent]) => {
    const words = random.map((word, at) => {
      const mask = layout.fixed.mask[at] as number;
      return ((word & ~mask) | (layout.fixed.value[at] as number)) >>> 0;
    });
    for (const field of layout.fields) {
      if (field.role === "time" && isRecent) field.write(words, (BigInt(field.max) * 3n) / 8n);
      if (field.role === "key" && dice % 3 > 0) field.write(words, field.name === "group" ? 7 : dice % 2);
    }
    const texts = Object.values(textsOf(layout, words));
    return texts[dice % texts.length] as string;
  });

const anyText = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16)),
  fc.integer({ min: 0, max: 2 ** 48 - 1 }).map((value) => value.toString(16)),
  fc.constantFrom("0", "17", "00", "A", "abc", "1541815603606036480"),
  fc.oneof(...LAYOUTS.map(anyIdOf)),
  fc.oneof(...LAYOUTS.map(anyIdOf)).chain(anyDamage),
);

type Answer = { readonly entity: string; readonly region: string } | "nowhere";

test("explain, locate, /-/ids, /any and the console decide alike, of any text by any table", async () => {
  const seen = { nowhere: 0, region: 0, public: 0 };
  await fc.assert(
    fc.asyncProperty(anyDeclared, fc.array(anyText, { minLength: 1, maxLength: 12 }), async (declared, given) => {
      const table = load(declared);
      const codecs = [...table.entities.values()].flatMap((entity) =>
        entity.public === undefined ? [] : [publicCodec(entity, keys)],
      );
      const texts = given
        .flatMap((text) => [text, ...codecs.flatMap((codec) => codec?.show(text) ?? [])])
        .filter((text) => /^[\x21-\x2e\x30-\x7e]+$/.test(text) && !text.startsWith("-"));
      if (texts.length === 0) return;
      const publicIds = {
        open: (entity: Parameters<typeof publicCodec>[0], text: string) =>
          ({ ok: true, value: publicCodec(entity, keys)?.open(text) }) as const,
      };
      const input = {
        tables: { table, canary: undefined },
        ports: { publicIds },
        layoutName: undefined,
        nowMs: NOW_MS,
      };
      const machine = { files: tableFiles(declared, { "ids.txt": texts.join("\n") }), env: { PUBLIC_ID_KEYS } };
      const run = (args: readonly string[]) => waybill(args, { ...machine, clock: new FakeClock(NOW_MS) });
      const located = objectsOf((await run(["locate", "ids.txt", "--format", "ndjson"])).stdout);
      const explained = objectsOf((await run(["explain", "--json", ...texts])).stdout);
      const reader = readerOfTable(declared, 1);
      for (const [at, text] of texts.entries()) {
        const decided = decideId(input, text);
        const any: Answer =
          decided.kind === "region"
            ? { entity: decided.decision.entity.name, region: decided.decision.target.region.name }
            : "nowhere";
        const staff = explainId(input, text, true);
        const answers = [located[at], (explained[at] as { decision?: object }).decision, decisionOf(staff)].map(plain);
        expect(answers, text).toEqual([any, any, any]);
        const { kind } = decideAny(input, `/any/${text}`);
        // A public ID is led to its own path before it is decided about.
        if (kind !== "redirect") expect(kind, text).toBe(any === "nowhere" ? "error" : "region");
        const isPublic = decided.kind === "region" && decided.decision.entity.public !== undefined;
        const byPage = reader?.read(readOne(text, reader), NOW_MS);
        // Without the keys the page cannot tell, and says so. Support, which may not see it, gets no decision.
        if (byPage?.publicOf === undefined) expect(plain(byPage?.decision), text).toEqual(any);
        if (isPublic) expect(decisionOf(explainId(input, text, false)), text).toBeUndefined();
        seen[any === "nowhere" ? any : isPublic ? "public" : "region"] += 1;
      }
    }),
    { numRuns: runs(150) },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
});

function decisionOf(explained: ReturnType<typeof explainId>): object | undefined {
  if (explained.kind !== "explanation") throw new Error(explained.kind);
  return explained.explanation.decision;
}

function plain(decision: unknown): Answer {
  const { entity, region } = Object(decision) as { entity?: string; region?: string };
  return entity === undefined || region === undefined ? "nowhere" : { entity, region };
}
