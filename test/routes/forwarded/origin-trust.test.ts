import { describe, expect, it } from "vitest";
import { hmacSigner, parseSigningKeys } from "../../../src/edge/origins/signer.ts";
import { verifyRequest } from "../../../src/origin/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../harness.ts";

const KEYS = [{ id: "2026a", key: btoa("a key of thirty-two octets, test") }];
const NOW_MS = 1_790_000_000_000;
const sign = hmacSigner(parseSigningKeys(JSON.stringify(KEYS)) ?? [], crypto.subtle, { nowMs: () => NOW_MS });
const options = { keys: KEYS, now: () => NOW_MS };

/** The origin's verdict on each request that it saw. */
async function verifyAll(seen: ReturnType<typeof setUp>["seen"]) {
  return Promise.all(seen.map((request) => verifyRequest(request, options)));
}

describe("a signed request", () => {
  it("is verified as it arrives, with its base path, its query and what else is vouched for", async () => {
    const { request, seen } = setUp({ gateway: { sign } });
    await request(`/orders/${IDS.orderBr}/events?limit=20&q=%2F`, { headers: { "cf-connecting-ip": "2001:db8::7" } });
    expect(seen[0]?.url).toBe(`http://us.test/base/orders/${IDS.orderBr}/events?limit=20&q=%2F`);
    expect(await verifyAll(seen)).toEqual([
      {
        ok: true,
        value: {
          entityId: IDS.orderBr,
          region: "us",
          revision: 0,
          epoch: 0,
          clientAddress: "2001:db8::7",
          signedAtMs: NOW_MS,
          keyId: "2026a",
        },
      },
    ]);
  });

  it("is verified where the runtime encodes the target anew", async () => {
    const { request, seen } = setUp({ gateway: { sign } });
    await request(`/orders/${IDS.orderDe}/a"b^{c}'d?q="x'{y}`);
    expect(await verifyAll(seen)).toMatchObject([{ ok: true, value: { clientAddress: undefined } }]);
  });

  it("names the region of each attempt", async () => {
    const { request, seen } = setUp({
      gateway: { sign },
      origin: ({ url }) => {
        if (url.startsWith("http://eu.test")) throw new Error("Network connection lost.");
        return new Response("ok");
      },
    });
    await request(`/orders/${IDS.orderDe}`);
    expect(await verifyAll(seen)).toMatchObject(
      seen.map(({ headers }) => ({ value: { region: headers.get("waybill-region") } })),
    );
    expect(new Set(seen.map(({ headers }) => headers.get("waybill-region")))).toEqual(new Set(["eu", "us"]));
  });

  it("does not verify once any of what is vouched for has changed", async () => {
    const { request, seen } = setUp({ gateway: { sign } });
    await request(`/orders/${IDS.orderDe}?a=1`);
    const [original] = seen;
    if (original === undefined) throw new Error("nothing was sent");
    const changed = (name: string, value: string) => {
      const headers = new Headers(original.headers);
      headers.set(name, value);
      return { ...original, headers };
    };
    const forged = [
      { ...original, method: "DELETE" },
      { ...original, url: `${original.url}&b=2` },
      changed("waybill-entity-id", IDS.orderKz),
      changed("waybill-region", "us"),
      changed("waybill-revision", "1"),
      changed("waybill-epoch", "1"),
      changed("waybill-signature", (original.headers.get("waybill-signature") ?? "").replace("a=unknown", "a=::1")),
    ];
    expect(await verifyAll(forged)).toEqual(forged.map(() => ({ ok: false, error: { reason: "mismatch" } })));
  });
});

describe("an origin that repeats what it was told", () => {
  it("tells no client of it", async () => {
    const { request } = setUp({
      gateway: { sign },
      origin: ({ headers }) => new Response("ok", { headers: { ...Object.fromEntries(headers), "waybill-own": "x" } }),
    });
    const answer = await request(`/orders/${IDS.orderDe}`);
    const own = [...answer.headers].filter(([name]) => name.startsWith("waybill-"));
    expect(own).toEqual([["waybill-region", "eu"]]);
  });
});

describe("an origin behind a binding", () => {
  it("is asked through it", async () => {
    const bindings: (string | undefined)[] = [];
    const eu = { origins: [{ url: "http://eu.test", binding: "EU_MTLS" }] };
    const { request } = setUp({
      declared: { ...DECLARED_TABLE, regions: { ...DECLARED_TABLE.regions, eu } },
      gateway: {
        fetch: async (_, __, binding) => {
          bindings.push(binding);
          return new Response("ok");
        },
      },
    });
    await request(`/orders/${IDS.orderDe}`);
    await request(`/orders/${IDS.orderBr}`);
    expect(bindings).toEqual(["EU_MTLS", undefined]);
  });
});
