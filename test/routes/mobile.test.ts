import { describe, expect, it } from "vitest";
import { sendAgain } from "../../docs/examples/send-again.ts";
import { IDS, setUp } from "./harness.ts";

/** An app that sends as docs/guides/mobile-apps.md says, and the gateway before origins that fail. */
function appBefore(origin: (request: Request) => Response) {
  const { request, seen } = setUp({ origin });
  const pauses: number[] = [];
  const send = (path: string, init: RequestInit) =>
    sendAgain(new Request(`http://gw.test${path}`, init), {
      fetch: async ({ method, headers, body }) => request(path, { method, headers, body }),
      pause: async (ms) => {
        pauses.push(ms);
      },
      random: () => 0,
    });
  const hosts = () => seen.map(({ url }) => new URL(url).host);
  return { send, hosts, pauses };
}

const post = (headers: Readonly<Record<string, string>> = {}): RequestInit => ({ method: "POST", body: "x", headers });

describe("an app that speaks to one host", () => {
  it("reaches an entity that has moved just now with its second request, and the new region alone with its third", async () => {
    const { send, hosts, pauses } = appBefore(({ url }) =>
      url.startsWith("http://eu.test/")
        ? new Response(null, { status: 421, headers: { "waybill-region": "us" } })
        : new Response("done"),
    );
    for (const _ of [1, 2]) expect((await send(`/orders/${IDS.orderDe}`, post())).status).toBe(200);
    expect(hosts()).toEqual(["eu.test", "us.test", "us.test"]);
    expect(pauses).toEqual([2000]);
  });

  it("does not repeat what may have been done, unless it has a key", async () => {
    const failOnce = () => {
      let count = 0;
      return () => {
        if (++count === 1) throw new Error("connection reset");
        return new Response("done");
      };
    };
    const bare = appBefore(failOnce());
    expect((await bare.send(`/orders/${IDS.orderBr}`, post())).status).toBe(502);
    expect(bare.hosts()).toHaveLength(1);
    const keyed = appBefore(failOnce());
    expect((await keyed.send(`/orders/${IDS.orderBr}`, post({ "idempotency-key": "5e1f" }))).status).toBe(200);
    expect(keyed.hosts()).toHaveLength(2);
  });

  it("never sees a 421, and sends nothing twice after an answer of the service", async () => {
    const lost = appBefore(() => new Response(null, { status: 421, headers: { "waybill-region": "us" } }));
    expect((await lost.send(`/orders/${IDS.orderDe}`, { method: "GET" })).status).toBe(502);
    const refused = appBefore(() => new Response("taken", { status: 409 }));
    expect((await refused.send(`/orders/${IDS.orderDe}`, post())).status).toBe(409);
    expect(refused.hosts()).toHaveLength(1);
  });
});
