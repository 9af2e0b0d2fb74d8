import { describe, expect, it } from "vitest";
import { accessWorld, NO_AUTH } from "./access-world.ts";

const { authenticate } = accessWorld([], { settings: { ...NO_AUTH, openPages: true } });

const askedBy = (host: string) => authenticate(new Request("http://127.0.0.1/-/table", { headers: { host } }));

describe("open pages", () => {
  it.each([
    "localhost",
    "localhost:8787",
    "LOCALHOST:8787",
    "localhost.:8787",
    "eu.gateway.localhost:8787",
    "127.0.0.1",
    "127.0.0.1:8787",
    "192.168.1.5:80",
    "[::1]",
    "[::1]:8787",
    "[::ffff:127.0.0.1]:8787",
  ])("take everybody who asks by %s for an operator", async (host) => {
    expect(await askedBy(host)).toEqual({ ok: true, value: { name: "anybody", scope: "operator", by: "open-pages" } });
  });

  it.each([
    "evil.example",
    "evil.example:8787",
    "localhost.evil.example",
    "evil-localhost",
    "xlocalhost:8787",
    ".localhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io:8787",
    "127.0.0.1:8787.evil.example",
    "1.2.3.4.5",
    "host.docker.internal:8787",
    "127.0.0.1@evil.example",
    "[::1].evil.example",
    "[evil]",
    "localhost:evil",
    "localhost\u00a0",
    "",
  ])("know nobody who asks by %j, which may be anybody's name", async (host) => {
    expect(await askedBy(host)).toEqual({ ok: false, error: { reason: "forbidden", why: "host", host } });
  });

  it("take a request that names no host by its URL", async () => {
    expect(await authenticate(new Request("http://localhost:8787/-/table"))).toMatchObject({ ok: true });
    expect(await authenticate(new Request("http://evil.example/-/table"))).toMatchObject({ ok: false });
  });
});
