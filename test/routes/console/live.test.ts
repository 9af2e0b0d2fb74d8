import { describe, expect, it } from "vitest";
import type { ConsoleEvents, MetricsHistory } from "../../../src/formats/console-api.ts";
import { IDS, problemOf, slug } from "../harness.ts";
import { setUpConsole } from "./world.ts";

/** The next event of a stream. */
function eventsOf(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<readonly [string, unknown] | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        // A comment.
        if (name === "") continue;
        return [name, JSON.parse(data)];
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  return { next };
}

describe("the live view", () => {
  it("tells the table in force and the traffic, and ends with the session", async () => {
    const { ask, signIn, time } = setUpConsole();
    const headers = { cookie: await signIn("viewer") };
    await ask(`/orders/${IDS.orderKz}`, {}, "http://gw.test");
    const response = await ask("/-/events", { headers });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const { next } = eventsOf(response);
    const [name, table] = (await next()) ?? [];
    expect(name).toBe("table");
    expect(table as ConsoleEvents["table"]).toMatchObject({ canary: null });
    const [second, traffic] = (await next()) ?? [];
    expect([second, (traffic as MetricsHistory).span]).toEqual(["traffic", "hour"]);
    time.nowMs += 30 * 60_000;
    let last = await next();
    while (last?.[0] === "traffic") last = await next();
    expect(last).toEqual(["end", { why: "session" }]);
    expect(await next()).toBeUndefined();
  });

  it("is for so many at once, and room is made when they leave or are over", async () => {
    const { ask, signIn, time } = setUpConsole();
    const headers = { cookie: await signIn("viewer") };
    const open: Response[] = [];
    for (let at = 0; at < 24; at++) open.push(await ask("/-/events", { headers }));
    expect(open.every(({ status }) => status === 200)).toBe(true);
    const refused = await ask("/-/events", { headers });
    expect([refused.status, slug(await problemOf(refused))]).toEqual([503, "console-unavailable"]);
    expect(refused.headers.get("retry-after")).not.toBeNull();
    await Promise.all(open.map(({ body }) => body?.cancel()));
    time.nowMs += 31 * 60_000;
    const again = { cookie: await signIn("viewer") };
    const response = await ask("/-/events", { headers: again });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it("is not begun by HEAD, which nothing would end", async () => {
    const { ask, signIn } = setUpConsole();
    const headers = { cookie: await signIn("viewer") };
    for (let at = 0; at < 30; at++) {
      const answer = await ask("/-/events", { method: "HEAD", headers });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    }
    const response = await ask("/-/events", { headers });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it("says no span that it does not have", async () => {
    const { ask, signIn } = setUpConsole();
    const headers = { cookie: await signIn("viewer") };
    for (const span of ["week", "", "Hour"]) {
      expect((await ask(`/-/metrics/history?span=${span}`, { headers })).status).toBe(400);
    }
    for (const from of ["-1", "1e3", "soon"]) {
      expect((await ask(`/-/metrics/history?from=${from}`, { headers })).status).toBe(400);
    }
    // This isolate has no counters of all others.
    expect(await (await ask("/-/metrics/history?span=day", { headers })).json()).toMatchObject({
      source: "none",
      span: "day",
    });
  });
});

describe("the preview of an entity", () => {
  const path = `/-/console/entity/${IDS.orderKz}`;
  const json =
    (text: string, type = "application/json") =>
    () =>
      new Response(text, { headers: { "content-type": type, "set-cookie": "a=1" } });

  it("shows the owner's JSON as data, and sends nothing of the caller along", async () => {
    const { ask, signIn, seen, lines } = setUpConsole({ preview: ["order"], origin: json('{"total":"<script>"}') });
    const response = await ask(path, { headers: { cookie: await signIn("support"), "x-secret": "1" } });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await response.json()).toEqual({
      entity: "order",
      region: "ap",
      path: `/any/${IDS.orderKz}`,
      status: 200,
      contentType: "application/json",
      text: '{"total":"<script>"}',
      truncated: false,
      ms: expect.any(Number),
      bytes: 20,
    });
    expect(seen).toHaveLength(1);
    const { headers, method } = seen[0] ?? { headers: new Headers(), method: "" };
    expect([
      method,
      headers.get("accept"),
      headers.get("cookie"),
      headers.get("authorization"),
      headers.get("x-secret"),
    ]).toEqual(["GET", "application/json", null, null, null]);
    expect(lines.map(({ outcome, region }) => [outcome, region])).toContainEqual(["answered", "ap"]);
  });

  it.each([
    ["HTML", json("<script>alert(1)</script>", "text/html"), { text: null, truncated: false, status: 200 }],
    ["nothing", () => new Response(null, { status: 204 }), { text: null, status: 204, contentType: null }],
    ["a problem", () => Response.json({ a: 1 }, { status: 404 }), { text: '{"a":1}', status: 404 }],
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { location: "http://evil.test" } }),
      { status: 302 },
    ],
    ["JSON of another kind", json("{}", "application/vnd.acme+json; charset=utf-8"), { text: "{}" }],
  ])("of an owner that answers with %s", async (_, origin, shown) => {
    const { ask, signIn, seen } = setUpConsole({ preview: "all", origin });
    const response = await ask(path, { headers: { cookie: await signIn("viewer") } });
    expect([response.status, await response.json()]).toMatchObject([200, shown]);
    expect(seen).toHaveLength(1);
  });

  it("has the first 64 KiB of a long one, and says so", async () => {
    let sent = 0;
    const chunk = new TextEncoder().encode(`"${"ü".repeat(511)}`);
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += chunk.length;
            controller.enqueue(chunk);
          },
        }),
        { headers: { "content-type": "application/json" } },
      );
    const { ask, signIn } = setUpConsole({ preview: "all", origin: endless });
    const view = await (await ask(path, { headers: { cookie: await signIn("support") } })).json<{
      text: string;
      truncated: boolean;
    }>();
    expect(view.truncated).toBe(true);
    expect(new TextEncoder().encode(view.text).length).toBeLessThanOrEqual(64 * 1024);
    expect(view.text).not.toContain("\ufffd");
    expect(sent).toBeLessThan(300_000);
  });

  it("asks no origin where the deployment does not allow it", async () => {
    const { ask, signIn, seen } = setUpConsole({ preview: ["ride"] });
    const headers = { cookie: await signIn("operator") };
    expect((await ask(path, { headers })).status).toBe(403);
    expect((await ask("/-/console/entity/nonsense", { headers })).status).toBe(400);
    expect((await ask(path)).status).toBe(401);
    expect((await ask(path, { headers }, "http://gw.test")).status).toBe(403);
    expect(seen).toEqual([]);
  });

  it("is asked for by the layout that it was allowed by", async () => {
    const { ask, signIn, seen } = setUpConsole({ preview: ["order"], origin: json("{}") });
    const cookie = await signIn("support");
    for (const layout of ["iuid", "hotguid", "none"]) await ask(path, { headers: { cookie, "id-layout": layout } });
    expect(seen.map(({ headers }) => headers.get("id-layout"))).toEqual(["iuid"]);
  });

  it("is of a short key on the entity's own path", async () => {
    const { ask, signIn, seen } = setUpConsole({ preview: ["person"], origin: json("{}") });
    const headers = { cookie: await signIn("support") };
    const own = await ask("/-/console/entity/1a2b3c?path=/person/1a2b3c", { headers });
    expect(await own.json()).toMatchObject({ entity: "person", region: "eu", path: "/person/1a2b3c", text: "{}" });
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(["/person/1a2b3c"]);
  });

  it.each([
    ["what is below the entity", "1a2b3c", "/person/1a2b3c/letters", 404],
    ["a path with another ID", "1a2b3c", "/person/1a2b3d", 404],
    ["an ID in another text", "1a2b3c", "/person/1a2b3c?all=1", 400],
    ["segments that are resolved later", "1a2b3c", "/orders/../person/1a2b3c", 400],
    ["another host", "1a2b3c", "//evil.test/person/1a2b3c", 404],
    ["a path without an ID", "rest", "/rest", 404],
    ["a page of the gateway", "table", "/-/table", 404],
    ["nothing", "1a2b3c", "", 404],
    ["an entity that is not allowed", IDS.orderKz, `/orders/${IDS.orderKz}`, 403],
  ])("asks no origin for %s", async (_, id, path, status) => {
    const { ask, signIn, seen } = setUpConsole({ preview: ["person"], origin: json("{}") });
    const headers = { cookie: await signIn("support") };
    const response = await ask(`/-/console/entity/${id}?path=${encodeURIComponent(path)}`, { headers });
    expect([response.status, seen]).toEqual([status, []]);
  });

  it("is of the entity at its own path, where the table sends clients there", async () => {
    const { ask, signIn, seen } = setUpConsole({ preview: "all", origin: json("{}") });
    const view = await (
      await ask(`/-/console/entity/${IDS.parcelEu}`, { headers: { cookie: await signIn("support") } })
    ).json();
    expect(view).toMatchObject({ entity: "parcel", region: "eu", status: 200 });
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual([`/parcels/${IDS.parcelEu}`]);
  });
});
