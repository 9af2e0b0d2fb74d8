import { describe, expect, test } from "vitest";
import { replay } from "../../../src/features/replay/serve.ts";
import { load, NOW_MS, sampleTable } from "../tables.ts";

const ORDER = "019e807a-ec00-8005-805e-2d8e9c7ac355";
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";

const withoutId = {
  list: { path: "/orders", methods: "GET", sources: [{ header: "x-home" }, { region: "eu" }] },
  login: { path: "/login", sources: [{ region: "us" }] },
} as const;

const BEFORE = { ...sampleTable(), withoutId };
const before = load(BEFORE);

/** The verdict, and both destinations as text. */
const through = (after: object, method: string, path: string) => {
  const replayed = replay(before, load({ ...BEFORE, ...after }), { method, path }, NOW_MS);
  const [left, right] = [replayed.before, replayed.after].map((destination) =>
    Object.values(destination)
      .filter((part) => part !== undefined)
      .join(" "),
  );
  return [replayed.verdict, left, right];
};

const OTHER_ROUTES = {
  routes: BEFORE.routes.map((route) => (route.region === "ap" ? { ...route, region: "us" } : route)),
};

describe("a request of the past in two tables", () => {
  test.each([
    ["on an entity's path", `/orders/${ORDER}`, "ap order", "us order", "changed"],
    ["below the ID, with a query", `/orders/${ORDER}/events?limit=2`, "ap order", "us order", "changed"],
    ["by its ID alone", `/any/${ORDER}/events`, "ap order", "us order", "changed"],
    ["whose region stays", `/any/${PARCEL}`, "eu parcel", "eu parcel", "same"],
    ["that is refused", "/orders/x", "malformed-id", "malformed-id", "same"],
    ["on a path of nobody", "/nothing", "unrouted-path", "unrouted-path", "same"],
    [
      "that another path might be made of",
      `/orders/${ORDER}/%2e%2e/x`,
      "malformed-request",
      "malformed-request",
      "same",
    ],
  ])("%s", (_, path, left, right, result) => {
    const kind = (text: string) => (/^(ap|us|eu) /.test(text) ? "region" : "refused");
    expect(through(OTHER_ROUTES, "GET", path)).toEqual([result, `${kind(left)} ${left}`, `${kind(right)} ${right}`]);
  });

  test.each(["/mint", "/-/ready", "/-/ids/x"])("the gateway's own %s leads nowhere else", (path) => {
    expect(through(OTHER_ROUTES, "GET", path)).toEqual(["same", "own", "own"]);
  });

  test("an entity that gets another path is refused on the old one", () => {
    const { entities } = BEFORE;
    const after = { entities: { ...entities, order: { ...entities["order"], path: "/v2/orders/:id" } } };
    expect(through(after, "GET", `/orders/${ORDER}`)).toEqual(["changed", "region ap order", "refused unrouted-path"]);
  });

  test("without an ID, only what no field of the request can change is certain", () => {
    expect(through({}, "GET", "/orders")).toEqual(["open", "open request-fields list", "open request-fields list"]);
    expect(through({}, "POST", "/orders")).toEqual([
      "same",
      "refused method-not-allowed list",
      "refused method-not-allowed list",
    ]);
    const login = { path: "/login", sources: [{ region: "eu" }] };
    expect(through({ withoutId: { login } }, "POST", "/login")).toEqual([
      "changed",
      "region us login",
      "region eu login",
    ]);
    expect(through({ withoutId: { login } }, "GET", "/orders")).toEqual([
      "changed",
      "open request-fields list",
      "refused unrouted-path",
    ]);
  });
});

test("where fields decide now and one region did before, both may come to the same", () => {
  const login = { path: "/login", sources: [{ header: "x-home" }] };
  expect(through({ withoutId: { ...withoutId, login } }, "GET", "/login")).toEqual([
    "open",
    "region us login",
    "open request-fields login",
  ]);
});

test("nothing is said of a pack whose pages are not at hand", () => {
  const packs = { heavy: { sha256: "0".repeat(64), bytes: 100, ranges: 1, bits: 32, regions: ["ap"] } };
  const routes = [{ when: { layout: "hotguid" }, pack: "heavy" }, ...BEFORE.routes.slice(0, 2)];
  const [result, left, right] = through({ packs, routes }, "GET", `/parcels/${PARCEL}`);
  expect([result, left, right]).toEqual(["open", "region eu parcel", "open pack"]);
});

describe("public IDs, whose keys no log has", () => {
  const { entities } = BEFORE;
  const publicOrders = { entities: { ...entities, order: { ...entities["order"], public: true } } };

  test("are open while both tables have them", () => {
    const table = load({ ...BEFORE, ...publicOrders });
    for (const path of [
      "/orders/aB3dE6gH9jK2mN5pQ8sT1v",
      "/any/aB3dE6gH9jK2mN5pQ8sT1v",
      "/orders/:id/*",
      "/any/:id",
      "/*",
    ]) {
      expect(replay(table, table, { method: "GET", path }, NOW_MS).verdict).toBe("open");
    }
    const ofOthers = replay(table, table, { method: "GET", path: `/any/${ORDER.replace("c355", "c356")}` }, NOW_MS);
    expect(ofOthers.verdict).toBe("open");
  });

  test("are a change where they are new, for internal IDs are refused then", () => {
    expect(through(publicOrders, "GET", `/orders/${ORDER}`)).toEqual([
      "changed",
      "region ap order",
      "open public-id order",
    ]);
  });

  test("that a log has hidden are never taken for another text", () => {
    expect(through({}, "GET", "/orders/:id/*")[0]).toBe("open");
    expect(through({}, "GET", "/any/:id")[0]).toBe("open");
  });
});
