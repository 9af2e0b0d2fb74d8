import { describe, expect, test } from "vitest";
import { type DecideInput, decideEntity, decidePath, type TableCanary } from "../../../src/gateway/decide.ts";
import { ok } from "../../../src/ids/result.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const ORDER = "019e807a-ec00-8005-805e-2d8e9c7ac355";
const RIDE = "0192f0c1-7a30-8005-8080-8f3b2a1c9d78";
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";
const SECRET = "00000000-0000-4000-8000-0000000000aa";

const table = load(sampleTable());
const elsewhere = load({ ...sampleTable(), routes: [], default: "us" }, 2);

const inputOf = (canary?: TableCanary, layoutName?: string): DecideInput => ({
  tables: { table, canary },
  ports: { publicIds: { open: (_, text) => ok(text === SECRET ? ORDER : undefined) } },
  layoutName,
  nowMs: NOW_MS,
});

const canaryOf = (owned: string | undefined, matches: boolean): TableCanary => ({
  table: elsewhere,
  matches: () => matches,
  ownsEntity: (name) => name === owned,
});

const shown = (outcome: ReturnType<typeof decideEntity>) =>
  outcome.kind === "region"
    ? [outcome.decision.entity.name, outcome.decision.target.region.name, outcome.path, outcome.byCanary]
    : [outcome.kind, "error" in outcome ? outcome.error.reason : undefined];

describe("an ID of a known entity", () => {
  test.each([
    ["order", ORDER, ["order", "ap", `/orders/${ORDER}`, false]],
    ["order", ORDER.toUpperCase(), ["order", "ap", `/orders/${ORDER.toUpperCase()}`, false]],
    ["parcel", PARCEL, ["parcel", "eu", `/parcels/${PARCEL}`, false]],
    ["order", PARCEL, ["error", "wrong-entity"]],
    ["order", RIDE, ["error", "wrong-entity"]],
    ["order", `${ORDER}/lines`, ["error", "malformed-id"]],
    ["order", "", ["error", "malformed-id"]],
    ["order", "$&", ["error", "malformed-id"]],
    ["nothing", ORDER, ["error", "unknown-name"]],
  ])("%s %s", (entity, text, expected) => {
    expect(shown(decideEntity(inputOf(), entity, text))).toEqual(expected);
  });

  test("goes where its own path goes, by every canary and hint", () => {
    const canaries = [
      undefined,
      ...["order", undefined].flatMap((name) => [true, false].map((m) => canaryOf(name, m))),
    ];
    for (const canary of canaries) {
      for (const hint of [undefined, "iuid", "hotguid", "nothing"]) {
        for (const text of [ORDER, PARCEL, RIDE, "x"]) {
          const input = inputOf(canary, hint);
          expect(decideEntity(input, "order", text)).toEqual(decidePath(input, `/orders/${text}`));
        }
      }
    }
  });

  test("is opened where clients see public IDs only, and its errors do not name what it opens to", () => {
    const { order, ...others } = sampleTable().entities;
    const sealed = load({ ...sampleTable(), entities: { ...others, order: { ...order, public: { as: "sealed" } } } });
    const input = { ...inputOf(), tables: { table: sealed, canary: undefined } };
    expect(shown(decideEntity(input, "order", SECRET))).toEqual(["order", "ap", `/orders/${ORDER}`, false]);
    expect(shown(decideEntity(input, "order", ORDER))).toEqual(["error", "unknown-id"]);
  });

  test("is read by every layout of its entity, and its path is that of its layout", () => {
    const split = load({
      ...sampleTable(),
      entities: {
        order: {
          path: [
            { path: "/orders/:id", layout: "iuid" },
            { path: "/v2/orders/:id", layout: "hotguid" },
          ],
          ids: [{ layout: "iuid", service: 1 }, { layout: "hotguid" }],
        },
      },
      routes: [{ when: { layout: "hotguid" }, region: "eu" }],
      default: "ap",
      moved: {},
    });
    const input = { ...inputOf(), tables: { table: split, canary: undefined } };
    expect(shown(decideEntity(input, "order", PARCEL))).toEqual(["order", "eu", `/v2/orders/${PARCEL}`, false]);
    expect(shown(decideEntity(input, "order", ORDER))).toEqual(["order", "ap", `/orders/${ORDER}`, false]);
    expect(shown(decideEntity(input, "order", PARCEL, "hotguid"))).toEqual([
      "order",
      "eu",
      `/v2/orders/${PARCEL}`,
      false,
    ]);
    expect(shown(decideEntity(input, "order", PARCEL, "iuid"))[0]).toBe("error");
  });
});
