import { describe, expect, it } from "vitest";
import { type Layout, layoutNamed, textsOf } from "../../src/ids/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { publicKeysOf, setUp } from "./harness.ts";

const key = (octet: string): string => btoa(octet.repeat(32));
const publicKeys = publicKeysOf(
  JSON.stringify({ sealed: [{ id: "s", key: key("s") }], compatible: [{ id: "c", key: key("c") }] }),
);

const json = (body: unknown) => new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });

/** A gateway with one public entity, and a public ID of it with the internal one. */
async function withTicket(ids: object, kind: unknown, wish: object, origin: (internal: string) => Response) {
  const { request, seen } = setUp({
    declared: {
      regions: DECLARED_TABLE.regions,
      entities: { ticket: { path: "/tickets/:id", ids: [ids], public: kind, publicFields: ["/id", "/others/*"] } },
      routes: [{ when: { entity: "ticket" }, region: "eu" }],
    },
    publicKeys,
    origin: ({ url }) => origin(url.split("/")[4] ?? ""),
  });
  const minted = await request("/mint", { method: "POST", body: JSON.stringify({ entity: "ticket", ...wish }) });
  const { ids: texts } = await minted.json<{ readonly ids: readonly [string] }>();
  return { request, seen, id: texts[0] };
}

const named = (name: string): Layout => {
  const layout = layoutNamed(name);
  if (layout === undefined) throw new Error(`no layout ${name}`);
  return layout;
};

describe("an internal ID in an answer", () => {
  it.each([
    ["distributed-id", { as: "uint128", form: "uuid" }, {}, 4],
    ["distributed-id", { as: "decimal", form: "base62" }, {}, 4],
    ["flake-id", { as: "ulong", form: "base62" }, { fields: { datacenter: 1, worker: 2 } }, 2],
  ] as const)("of layout %s as %j is made public in every text", async (layoutName, kind, wish, count) => {
    const layout = named(layoutName);
    const { request, id } = await withTicket({ layout: layoutName }, kind, wish, (internal) => {
      const words = layout.parse(internal);
      if (!words.ok) throw new Error(`${internal} is no ID`);
      return json({ id: internal, others: Object.values(textsOf(layout, words.value)) });
    });
    const body = await (await request(`/tickets/${id}`)).json<{ id: string; others: string[] }>();
    expect(body).toEqual({ id, others: Array<string>(count).fill(id) });
  });

  it("that is a primary key alone is not shown", async () => {
    const origin = (internal: string) =>
      json({ id: internal, others: ["23122e", "1", 7, 281474976710655, "none", ""] });
    const { request, id } = await withTicket({ layout: "luuid", class: "com.example.Person" }, true, {}, origin);
    expect(await (await request(`/tickets/${id}`)).json()).toEqual({
      id,
      others: [null, null, null, null, "none", ""],
    });
  });
});
