import { describe, expect, it } from "vitest";
import { IDS, setUp } from "../harness.ts";
import { tableWith } from "./world.ts";

/** An origin's `content-type` that came twice (RFC 9110 §8.3): it counts where it says one thing. */

const QUERY = `{ a: order(id: "${IDS.orderKz}") { id } b: order(id: "${IDS.orderBr}") { id } }`;

async function results(contentType: string) {
  const { request } = setUp({
    declared: tableWith(),
    origin: async (sent) => {
      const isGraphql = sent.url.endsWith("/graphql");
      const id = sent.url.split("/").at(-1);
      const key = (await sent.text()).includes("a: order") ? "a" : "b";
      const body = isGraphql ? { data: { [key]: { id: key } } } : { id };
      return new Response(JSON.stringify(body), { headers: { "content-type": contentType } });
    },
  });
  const send = (path: string, body: unknown) =>
    request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const split = await (await send("/graphql", { query: QUERY })).json<{ errors?: unknown }>();
  const many = await (await send("/any", [IDS.orderKz])).json<{ results: readonly Record<string, unknown>[] }>();
  return { isSplitRead: split.errors === undefined, isBodyJson: many.results[0]?.["body"] !== undefined };
}

describe("a field content-type of an origin", () => {
  it.each([
    ["application/json", true],
    ["Application/JSON; charset=utf-8", true],
    ["application/json, application/json", true],
    ["application/json;charset=utf-8, application/json", true],
    ["application/json, text/html", false],
    ["text/html, application/json", false],
    ["application/json,", false],
    ['application/x; a="application/json", application/json', false],
  ])("%s", async (contentType, isRead) => {
    expect(await results(contentType)).toEqual({ isSplitRead: isRead, isBodyJson: isRead });
  });
});
