import { expect, it } from "vitest";
import { parseAdminTokens } from "../../../src/edge/auth/settings.ts";
import { accessWorld, NO_AUTH } from "./access-world.ts";

const TOKEN = "the-only-token-that-this-gateway-knows";

const sha256 = Array.from(
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(TOKEN))),
  (byte) => byte.toString(16).padStart(2, "0"),
).join("");
const tokens = parseAdminTokens(JSON.stringify([{ name: "ci", scope: "operator", sha256 }])) ?? [];

const setUp = () => {
  const { authenticate, world } = accessWorld([], { settings: { ...NO_AUTH, tokens } });
  const send = (authorization: string | undefined, address: string | undefined) =>
    authenticate(
      new Request("https://gw.test/", {
        headers: {
          ...(authorization === undefined ? {} : { authorization }),
          ...(address === undefined ? {} : { "cf-connecting-ip": address }),
        },
      }),
    );
  return { world, send };
};

const guess = (at: number) => `Bearer ${String(at).padStart(40, "0")}`;
const wrong = { ok: false, error: { reason: "unauthenticated", why: "wrong" } };
const limited = { ok: false, error: { reason: "rate-limited", limit: "failed-attempts", retryAfterSeconds: 60 } };

it("tells 20 wrong credentials of a network a minute apart, limits more of them and no right one, and logs the 20", async () => {
  const { world, send } = setUp();
  for (let at = 0; at < 20; at++) expect(await send(guess(at), `2001:db8::${at}`)).toEqual(wrong);
  for (let at = 0; at < 20; at++) expect(await send(guess(at), `2001:db8::${at}`)).toEqual(limited);
  expect(await send(`Bearer ${TOKEN}`, "2001:db8::ffff")).toMatchObject({ ok: true });
  expect(world.refused).toEqual(
    Array.from({ length: 20 }, () => ({ by: "token", why: "unknown", network: "2001:db8:0:0::/64" })),
  );
  // Others are not in it.
  expect(await send(guess(0), "2001:db8:0:1::1")).toEqual(wrong);
  world.nowMs += 60_000;
  expect(await send(guess(0), "2001:db8::1")).toEqual(wrong);
});

it("answers a burst alike: no more than 20 are told that they are wrong", async () => {
  const { world, send } = setUp();
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => send(guess(at), "203.0.113.1")));
  expect(answers.filter((answer) => !answer.ok && answer.error.reason === "unauthenticated")).toHaveLength(20);
  expect(world.refused).toHaveLength(20);
});

it("counts neither right credentials nor requests without any", async () => {
  const { world, send } = setUp();
  for (let at = 0; at < 50; at++) {
    expect(await send(`Bearer ${TOKEN}`, "203.0.113.1")).toMatchObject({ ok: true, value: { name: "ci" } });
    expect(await send(undefined, "203.0.113.1")).toMatchObject({ error: { why: "missing" } });
  }
  expect(world.refused).toEqual([]);
});

it("takes all whose address is not known for one", async () => {
  const { send } = setUp();
  for (let at = 0; at < 20; at++) await send(guess(at), undefined);
  expect(await send(guess(20), undefined)).toEqual(limited);
});

it("keeps 10,000 networks: one more makes it forget the oldest", async () => {
  const { send } = setUp();
  const address = (at: number) => `10.0.${at >> 8}.${at & 255}`;
  for (let at = 0; at < 20; at++) await send(guess(at), address(0));
  expect(await send(guess(0), address(0))).toEqual(limited);
  for (let at = 1; at <= 10_000; at++) await send(guess(at), address(at));
  expect(await send(guess(0), address(0))).toEqual(wrong);
});

it("lets everybody do everything where the pages are open", async () => {
  const { authenticate } = accessWorld([], { settings: { ...NO_AUTH, openPages: true } });
  const caller = { name: "anybody", scope: "operator", by: "open-pages" };
  expect(await authenticate(new Request("http://localhost:8787/"))).toEqual({ ok: true, value: caller });
});
