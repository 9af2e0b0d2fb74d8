import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { bindingWatch, type MissingBindings, originFetch } from "../../../src/edge/platform.ts";
import type { ServedTable } from "../../../src/ports/gateway.ts";
import { MissingBinding } from "../../../src/proxy/origin-response.ts";
import { loadTable } from "../../../src/routing/index.ts";

/** `TEST_ORIGIN` is a service binding to a Worker of the tests that says what it got. */
const network = async (target: string | Request) => new Response(`network: ${new Request(target).url}`);

describe("the way to an origin", () => {
  it("is the network unless a binding is named", async () => {
    const response = await originFetch(env, network)("https://eu.test/orders/1");
    expect(await response.text()).toBe("network: https://eu.test/orders/1");
  });

  it("is the binding that is named", async () => {
    const fetch = originFetch(env, network);
    for (const path of ["/orders/1?x=%2F", "/orders/2"]) {
      const init = { method: "POST", body: "hello", headers: { "x-a": "b" } };
      const response = await fetch(`https://eu.test${path}`, init, "TEST_ORIGIN");
      expect(await response.json()).toEqual({
        method: "POST",
        url: `https://eu.test${path}`,
        body: "hello",
        field: "b",
      });
    }
  });

  it("takes a request, too", async () => {
    const request = new Request("https://eu.test/x", { method: "PUT", body: "a" });
    const response = await originFetch(env, network)(request, { headers: { "x-a": "c" } }, "TEST_ORIGIN");
    expect(await response.json()).toEqual({ method: "PUT", url: "https://eu.test/x", body: "a", field: "c" });
  });

  it.each(["EU_MTLS", "REQUEST_LOG", "TABLE_KV", "SEQUENCES", "toString", "__proto__"])(
    "is none through %s, which cannot fetch",
    async (name) => {
      const refused = originFetch(env, network)("https://eu.test/", {}, name);
      await expect(refused).rejects.toThrow(MissingBinding);
    },
  );
});

const served = (revision: number, binding?: string): ServedTable => {
  const origin = { url: "https://eu.test", ...(binding === undefined ? {} : { binding }) };
  const declared = {
    regions: { eu: { origins: [origin] }, us: { origins: [origin] } },
    entities: { person: { path: "/person/:id", ids: [{ layout: "ulid" }] } },
    routes: [],
    default: "eu",
  };
  const table = loadTable(declared, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return { table: table.value, source: "memory", digest: undefined, canary: undefined, confirmedAtMs: 0, label: "" };
};

describe("a table that names bindings", () => {
  it("is told of once when the deployment lacks one", async () => {
    let now = served(1, "EU_MTLS");
    const reported: MissingBindings[] = [];
    const watch = bindingWatch(env, (missing) => reported.push(missing));
    watch(now);
    watch(now);
    expect(reported).toEqual([{ revision: 1, bindings: ["EU_MTLS"] }]);
    now = served(2, "TEST_ORIGIN");
    watch(now);
    now = served(3);
    watch(now);
    expect(reported).toHaveLength(1);
    now = served(4, "US_MTLS");
    watch(now);
    expect(reported.at(-1)).toEqual({ revision: 4, bindings: ["US_MTLS"] });
  });
});
