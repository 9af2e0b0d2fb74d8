import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { problemOf, setUp } from "../harness.ts";
import { TABLE, UUID } from "./table.ts";

const { DIRECTORY } = env as Env;
const truth = durableDirectory(DIRECTORY);

const put = (directory: string, key: string, region: string) =>
  truth.register({ directory, key, owner: "1", operation: "test", region });

beforeEach(() => reset());

describe("a text key", () => {
  it("goes to the region of its directory, in any spelling of its form", async () => {
    await put("slug", "münchen", "us");
    const { request, seen } = setUp({ declared: TABLE });
    const answer = await request("/shops/M%C3%9Cnchen/items?page=2");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("waybill-region")).toBe("us");
    expect(seen[0]?.url).toBe("http://us.test/shops/M%C3%9Cnchen/items?page=2");
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe("m%C3%BCnchen");
  });

  it("is a problem where it is unknown, or no key", async () => {
    const { request, seen } = setUp({ declared: TABLE });
    expect(await problemOf(await request("/shops/none"))).toMatchObject({
      status: 404,
      type: "/-/problems/unknown-key",
      id: "none",
      directory: "slug",
    });
    for (const path of ["/shops/a%2Fb", "/shops/a%zz", "/shops/%ff", "/shops/a%00", "/shops/%c4%b0"]) {
      expect(await problemOf(await request(path)), path).toMatchObject({
        status: 400,
        type: "/-/problems/malformed-key",
      });
    }
    expect(seen).toEqual([]);
  });

  it("that is reserved only is unknown", async () => {
    await truth.reserve({ directory: "slug", key: "a", owner: "1", operation: "1", region: "eu", leaseMs: 60_000 });
    const { request } = setUp({ declared: TABLE });
    expect((await request("/shops/a")).status).toBe(404);
    await truth.confirm({ directory: "slug", key: "a", owner: "1", operation: "1" });
    expect((await request("/shops/a")).status).toBe(200);
  });

  it("in a region that the table has lost has no region", async () => {
    await put("slug", "a", "ap");
    const { request } = setUp({ declared: TABLE });
    expect(await problemOf(await request("/shops/a"))).toMatchObject({
      status: 404,
      type: "/-/problems/unassigned-key",
      key: { directory: "slug", region: "ap" },
    });
  });
});

describe("an ID without a shard", () => {
  it("goes where the directory says, on its path and under /any", async () => {
    await put("old", UUID, "eu");
    const { request, seen } = setUp({ declared: TABLE });
    for (const path of [`/orders/${UUID}`, `/any/${UUID.toUpperCase()}`, `/orders/${UUID.replaceAll("-", "")}`]) {
      const answer = await request(path);
      if (answer.status === 400) continue;
      expect(answer.headers.get("waybill-region"), path).toBe("eu");
    }
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect((await request("/orders/0192f0c1-7a30-7005-8040-8f3b2a1c9d78")).headers.get("waybill-region")).toBe("us");
  });

  it("is explained", async () => {
    await put("old", UUID, "eu");
    const { request } = setUp({ declared: TABLE });
    const explained = await (await request(`/-/ids/${UUID}`)).json();
    expect(explained).toMatchObject({
      decision: { region: "eu", rule: { kind: "directory", directory: "old" } },
      candidates: [{ layout: "uuid-v4", rule: { kind: "directory", directory: "old" } }, { layout: "uuid-v7" }],
    });
    const whole = await request("/-/explain", {
      method: "POST",
      body: JSON.stringify({ url: `/orders/${UUID}/items` }),
    });
    expect(JSON.stringify(await whole.json())).toContain('"region":"eu"');
    const unknown = await (await request("/-/ids/919108f7-52d1-4320-9bac-f847db4148a9")).json();
    expect(unknown).toMatchObject({ error: { reason: "unknown-key", directory: "old", entity: "order" } });
  });
});
