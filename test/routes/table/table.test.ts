import { reset } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { err } from "../../../src/ids/result.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import { loadTable, loadTableText, TABLE_BYTES_MAX } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { FAULT_CASES } from "../../routing/check/fault-cases.ts";
import { sampleTable } from "../../routing/tables.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const tableOf = (number: number) => ({
  ...DECLARED_TABLE,
  countries: { ...DECLARED_TABLE.countries, FR: 20 + number },
});

function client(gateway: Partial<Gateway> = {}) {
  const { request } = setUp({ gateway });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    request(path, { method, headers, ...(body === undefined ? {} : { body: text(body) }) });
  const put = (revision: number, body: unknown, headers: Record<string, string> = {}) =>
    send("PUT", "/-/table", body, { "if-match": `"${revision}"`, ...headers });
  return { send, put };
}

/** `undefined` for what no text can say: a function, a loop or an undefined member. */
function bodyOf(value: unknown): string | undefined {
  try {
    const body = JSON.stringify(value);
    return faultsOf(JSON.parse(body)) === faultsOf(value) ? body : undefined;
  } catch {
    return undefined;
  }
}

function faultsOf(declared: unknown): string {
  const table = loadTable(declared, 1);
  return table.ok ? "" : JSON.stringify(table.error);
}

const text = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

beforeEach(() => reset());

describe("/-/table", () => {
  it("gives the text in force octet for octet, and takes the next one for its tag", async () => {
    const { send, put } = client();
    const before = await send("GET", "/-/table");
    expect([before.status, before.headers.get("etag"), before.headers.get("waybill-revision")]).toEqual([
      200,
      '"0"',
      "0",
    ]);
    const body = `${JSON.stringify(tableOf(1), null, 7)}\n\n`;
    const made = await put(0, body, { "waybill-note": encodeURIComponent("für Köln – 1") });
    expect(made.status).toBe(201);
    const revision = await made.json<Record<string, unknown>>();
    expect(revision).toMatchObject({
      revision: 1,
      author: "anybody",
      note: "für Köln – 1",
      kind: "publish",
      basedOn: 0,
    });
    const after = await send("GET", "/-/table");
    expect(await after.text()).toBe(body);
    expect(after.headers.get("etag")).toBe('"1"');
    expect(after.headers.get("waybill-digest")).toBe(revision["digest"]);
    expect(after.headers.get("cache-control")).toBe("no-store");
    expect((await send("GET", "/-/table/revisions/1")).headers.get("waybill-digest")).toBe(revision["digest"]);
  });

  it("needs to be told which revision the change is for", async () => {
    const { send, put } = client();
    const bare = await send("PUT", "/-/table", tableOf(1));
    expect([bare.status, slug(await problemOf(bare))]).toEqual([428, "precondition-required"]);
    for (const tag of ["*", "1", 'W/"0"', '"0", "1"', '"x"', '""', '"01"']) {
      const answer = await put(0, tableOf(1), { "if-match": tag });
      expect([tag, slug(await problemOf(answer))]).toEqual([tag, "malformed-request"]);
    }
    await put(0, tableOf(1));
    const late = await put(0, tableOf(2));
    expect(late.status).toBe(412);
    expect(await problemOf(late)).toMatchObject({ type: "/-/problems/stale-revision", expected: 0, current: 1 });
  });

  it("refuses notes that nobody could show, and bodies beyond the cap", async () => {
    const { put } = client();
    for (const note of ["%zz", encodeURIComponent("a\nb"), "n".repeat(501)]) {
      const answer = await put(0, tableOf(1), { "waybill-note": note });
      expect(slug(await problemOf(answer))).toBe("malformed-request");
    }
    const large = await put(0, " ".repeat(8 * 1024 * 1024 + 1));
    expect([large.status, slug(await problemOf(large))]).toEqual([413, "body-too-large"]);
  });

  it("answers 503 while the truth cannot be asked, and routes all the same", async () => {
    const gone = () => Promise.resolve(err({ reason: "control-plane-unavailable", why: "overloaded" } as const));
    const calls = { text: gone, publish: gone, status: gone, partFaults: gone, revisions: gone, audit: gone };
    const controlPlane = {
      ...calls,
      rollback: gone,
      startCanary: gone,
      promote: gone,
      abort: gone,
      recordRejection: gone,
      packStatus: gone,
      putPackPart: gone,
    };
    const { send, put } = client({ controlPlane });
    for (const answer of [
      await send("GET", "/-/table"),
      await put(0, tableOf(1)),
      await send("GET", "/-/table/status"),
    ]) {
      expect([answer.status, slug(await problemOf(answer))]).toEqual([503, "control-plane-unavailable"]);
    }
    expect(await (await send("GET", `/orders/${IDS.orderKz}`)).text()).toMatch(/^from ap-/);
  });
});

describe("a table with faults", () => {
  const cases = Object.values(FAULT_CASES)
    .flat()
    .filter(([, , faults]) => faults.length > 0);

  it(`is refused with the same faults as everywhere, in each of ${cases.length} ways`, async () => {
    const { send, put } = client();
    let passedOver = 0;
    for (const [what, change] of cases) {
      const body = bodyOf(change(sampleTable()));
      if (body === undefined || body.length > TABLE_BYTES_MAX) {
        passedOver++;
        continue;
      }
      const loaded = loadTableText(body, 1);
      if (loaded.ok) throw new Error(`${what} is no fault`);
      const expected = { faults: loaded.error.slice(0, 100), faultCount: loaded.error.length };
      const published = await put(0, body);
      expect([what, published.status]).toEqual([what, 422]);
      expect(await problemOf(published)).toMatchObject(expected);
      expect(await problemOf(await send("POST", "/-/table/check", body))).toMatchObject(expected);
    }
    expect((await send("GET", "/-/table")).headers.get("etag")).toBe('"0"');
    expect(passedOver).toBeLessThan(12);
  }, 300_000);

  it.each([
    ["no JSON", "{", /not JSON/],
    ["a key twice", '{"regions":{},"regions":{}}', /"regions" is duplicated/],
    ["nothing", "", /not JSON/],
  ])("is refused as a text: %s", async (_, body, message) => {
    const { put, send } = client();
    for (const answer of [await put(0, body), await send("POST", "/-/table/check", body)]) {
      const { faults } = await problemOf(answer);
      expect(faults).toEqual([{ pointer: "", kind: "syntax", message: expect.stringMatching(message) }]);
    }
  });
});

describe("what a new table would do", () => {
  it("is checked without publishing it", async () => {
    const answer = await client().send("POST", "/-/table/check", tableOf(1));
    expect([answer.status, await answer.json()]).toEqual([200, { faults: [] }]);
  });

  const loops = (...urls: string[]) => ({
    ...DECLARED_TABLE,
    regions: { ...DECLARED_TABLE.regions, eu: { origins: urls.map((url) => ({ url })) } },
  });
  const OWN = [
    "localhost",
    "api.localhost",
    "127.0.0.1",
    "127.9.8.7",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
  ];

  it.each([...OWN, "LOCALHOST", "localhost.", "[0:0::1]"])(
    "is refused with an origin that is the gateway, asked at %s",
    async (name) => {
      const headers = { host: `${name}:8787` };
      const { send, put } = client();
      // RFC 4291 section 2.5.5.2 has a dotted form of mapped addresses, which no origin may have.
      const origins = OWN.filter((host) => !host.includes("ffff:127")).map((host) => `http://${host}:8787`);
      const table = loops(...origins);
      for (const refused of [
        await put(0, table, headers),
        await send("POST", "/-/table/canary", { table, share: 5 }, { "if-match": '"0"', ...headers }),
        await send("POST", "/-/table/check", table, headers),
      ]) {
        expect(refused.status).toBe(422);
        expect((await problemOf(refused))["faults"]).toEqual(
          origins.map((url, at) => ({
            pointer: `/regions/eu/origins/${at}/url`,
            kind: "origin-is-gateway",
            message: `This gateway itself listens at port 8787 of this machine, which is the origin "${url}". Requests would loop; give one of them another port.`,
          })),
        );
      }
      const besides = loops("http://127.0.0.1:8788", "http://eu.example.com:8787", "https://localhost");
      expect((await send("POST", "/-/table/check", besides, headers)).status).toBe(200);
      expect((await put(0, besides, headers)).status).toBe(201);
    },
  );

  it.each(["http://localhost.:8787", "http://127.1:8787", "http://[::ffff:127.0.0.1]:8787", "http://0.0.0.0:8787"])(
    "is refused with %s, another form of the gateway's address, wherever it is asked",
    async (url) => {
      const { send } = client();
      for (const host of ["127.0.0.1:8787", "gw.example.com"]) {
        const { faults } = await problemOf(await send("POST", "/-/table/check", loops(url), { host }));
        expect(faults).toEqual([expect.objectContaining({ kind: "origin-url" })]);
      }
    },
  );

  it("may name the gateway's port on a machine that is not the client's", async () => {
    const answer = await client().send("POST", "/-/table/check", loops("http://127.0.0.1:8787"), {
      host: "gw.test:8787",
    });
    expect(answer.status).toBe(200);
  });

  it("is refused, as publishing does, where KV lacks a pack that it names", async () => {
    const { send, put } = client();
    const shards = { sha256: "0".repeat(64), bytes: 90, ranges: 1, bits: 32, regions: ["eu"] };
    const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
    const table = { ...DECLARED_TABLE, packs: { shards }, routes };
    const [checked, published] = [await send("POST", "/-/table/check", table), await put(0, table)];
    expect([checked.status, published.status]).toEqual([422, 422]);
    const { faults } = await problemOf(checked);
    expect(faults).toEqual([expect.objectContaining({ kind: "pack", pointer: "/packs/shards" })]);
    expect(faults).toEqual((await problemOf(published))["faults"]);
  });

  it("is compared with the one in force", async () => {
    const { send, put } = client();
    await put(0, DECLARED_TABLE);
    const [first, ...routes] = DECLARED_TABLE.routes;
    const answer = await send("POST", "/-/table/diff", {
      ...DECLARED_TABLE,
      routes: [{ ...first, region: "eu" }, ...routes],
    });
    expect(answer.headers.get("waybill-revision")).toBe("1");
    const keys = [1, 2].map((service) => ({ service, where: { country: "KZ" }, keys: "1", percentOfSpace: 100 / 256 }));
    expect(await answer.json()).toMatchObject({ isEmpty: false, routes: { differ: true }, keys });
    expect(await (await send("POST", "/-/table/diff", DECLARED_TABLE)).json()).toMatchObject({ isEmpty: true });
  });

  it("is compared by single entities too: where they go, and which steps of moves are undone", async () => {
    const { send, put } = client();
    const id = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
    await put(0, { ...DECLARED_TABLE, moved: { [id]: { region: "us", epoch: 3 } } });
    const diff = await (await send("POST", "/-/table/diff", DECLARED_TABLE)).json();
    expect(diff).toMatchObject({
      keys: [],
      overrides: {
        changed: 1,
        listed: [{ id, entity: "order", before: { region: "us", epoch: 3 }, after: { region: "ap" } }],
        changes: [{ entity: "order", from: "us", to: "ap", entities: 1 }],
        undone: [{ kind: "move-lost", entities: 1 }],
      },
    });
  });

  it("is shown by the requests of a log, each that changes and a sum", async () => {
    const { send, put } = client();
    await put(0, DECLARED_TABLE);
    const [first, ...routes] = DECLARED_TABLE.routes;
    await put(1, { ...DECLARED_TABLE, routes: [{ ...first, region: "eu" }, ...routes] });
    const log = [IDS.orderKz, IDS.orderBr].map((id) =>
      JSON.stringify({ method: "GET", path: `/orders/${id}`, status: 200 }),
    );
    const others = [
      `/orders/${IDS.orderKz}?bare`,
      `PUT /orders/${IDS.orderKz}\r`,
      `{"path":"/orders/${IDS.orderBr}"}`,
      '{"event":"table-loaded"}',
      "no line",
      "",
    ];
    const sentBy = async (query: string, text: string) => {
      const answer = await send("POST", `/-/table/replay?${query}`, text);
      return (await answer.text())
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const text = [...log, ...others].join("\n");
    const lines = await sentBy("old=1&new=2", text);
    const way = (region: string) => expect.objectContaining({ kind: "region", region });
    // As `waybill table replay --json` prints them.
    const reported = (line: number, method: string, path: string) => ({
      line,
      method,
      path,
      verdict: "changed",
      before: way("ap"),
      after: way("eu"),
    });
    expect(lines).toEqual([
      reported(1, "GET", `/orders/${IDS.orderKz}`),
      reported(3, "GET", `/orders/${IDS.orderKz}?bare`),
      reported(4, "PUT", `/orders/${IDS.orderKz}`),
      { summary: { same: 2, changed: 3, open: 0, others: 1, unreadable: 1 } },
    ]);
    const table = { ...DECLARED_TABLE, routes: [{ ...first, region: "eu" }, ...routes] };
    expect(await sentBy("old=1&new=body", `${JSON.stringify({ table })}\n${text}`)).toEqual(lines);
    expect(await sentBy("new=1", text)).toEqual(await sentBy("old=2&new=1", text));
    expect(await sentBy("new=body", JSON.stringify({ table }))).toEqual([
      { summary: { same: 0, changed: 0, open: 0, others: 0, unreadable: 0 } },
    ]);
    const refusalOf = async (line: string) =>
      slug(await problemOf(await send("POST", "/-/table/replay?old=1&new=body", `${line}\n${text}`)));
    expect(await refusalOf(JSON.stringify({ table: { ...table, regions: {} } }))).toBe("invalid-table");
    expect(await refusalOf(JSON.stringify(table))).toBe("malformed-request");
    expect(await refusalOf("{")).toBe("malformed-request");
    expect(await refusalOf(`"${"x".repeat(TABLE_BYTES_MAX + 1024)}"`)).toBe("body-too-large");
    expect(slug(await problemOf(await send("POST", "/-/table/replay?old=1", "")))).toBe("malformed-request");
    expect(slug(await problemOf(await send("POST", "/-/table/replay?old=1&new=9", "")))).toBe("unknown-revision");
  });
});

describe("a log to replay", () => {
  const encoder = new TextEncoder();
  const lineOf = (id: string) => `GET /orders/${id}`;
  const good = lineOf(IDS.orderKz);
  const gzip = async (text: string) =>
    new Uint8Array(
      await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
    );
  const replayOf = async (body: BodyInit, headers: Record<string, string> = {}, query = "old=1&new=1") => {
    const { request } = setUp();
    const published = { method: "PUT", body: JSON.stringify(DECLARED_TABLE), headers: { "if-match": '"0"' } };
    await request("/-/table", published);
    return request(`/-/table/replay?${query}`, { method: "POST", body, headers });
  };

  it.each<[what: string, body: BodyInit, same: number, unreadable: number]>([
    [
      "a byte that is not UTF-8 in its path",
      new Uint8Array([...encoder.encode(`${good}\n/caf`), 0xe9, 10, ...encoder.encode(good)]),
      2,
      1,
    ],
    ["such a byte alone", new Uint8Array([0xe9]), 0, 1],
    ["a character that is cut off at its end", new Uint8Array([...encoder.encode(`${good}\n`), 0xc3]), 1, 1],
    ["a line of 40,000 characters", `${good}\n/${"x".repeat(40_000)}\n${good}\n`, 2, 1],
    ["one as its last line", `${good}\n${"x".repeat(40_000)}`, 1, 1],
    ["one of a million, and one behind it", `${"x".repeat(1_000_000)}\n${"y".repeat(100_000)}\n${good}`, 1, 2],
    ["a byte order mark", `\ufeff${good}\n${good}`, 2, 0],
    ["zero bytes", `\0\0\n${good}`, 1, 1],
    ["a deep JSON text", `{"path":${"[".repeat(20_000)}\n${good}`, 1, 1],
    ["lone surrogates in JSON", `{"path":"/orders/\\ud800"}\n${good}`, 2, 0],
    ["carriage returns", `${good}\r\n\r\n${good}\r`, 2, 0],
  ])("may have %s", async (_, body, same, unreadable) => {
    for (const chunk of [undefined, 1_000]) {
      const bytes = new Uint8Array(await new Response(body).arrayBuffer());
      const pieces =
        chunk === undefined
          ? [bytes]
          : Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
              bytes.subarray(at * chunk, (at + 1) * chunk),
            );
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      const answer = await replayOf(stream);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      const { summary } = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
      expect(summary).toEqual({ same, changed: 0, open: 0, others: 0, unreadable });
    }
  });

  it("must not be coded, and is unreadable where it is without saying so", async () => {
    const coded = await gzip(`${good}\n${good}`);
    for (const coding of ["gzip", "GZIP", "br", "identity, gzip"]) {
      const answer = await replayOf(coded, { "content-encoding": coding });
      expect(await problemOf(answer)).toMatchObject({ status: 400, type: "/-/problems/malformed-request" });
    }
    expect((await replayOf(good, { "content-encoding": "identity" })).status).toBe(200);
    const { summary } = JSON.parse((await (await replayOf(coded)).text()).trimEnd().split("\n").at(-1) ?? "");
    expect(summary).toMatchObject({ same: 0, unreadable: expect.any(Number) });
    expect(summary.unreadable).toBeGreaterThan(0);
    expect(slug(await problemOf(await replayOf(coded, {}, "old=1&new=body")))).toBe("malformed-request");
  });
});

describe("the table's history", () => {
  it("is listed from its end, and goes back by going on", async () => {
    const { send, put } = client();
    for (let number = 0; number < 3; number++) await put(number, tableOf(number));
    const back = await send("POST", "/-/table/rollback", { to: 1, note: "back" }, { "if-match": '"3"' });
    expect([back.status, await back.json()]).toMatchObject([
      201,
      { revision: 4, kind: "rollback", basedOn: 1, note: "back" },
    ]);
    const numbers = async (query: string) => {
      const answer = await send("GET", `/-/table/revisions${query}`);
      return (await answer.json<{ revisions: { revision: number }[] }>()).revisions.map(({ revision }) => revision);
    };
    expect([await numbers(""), await numbers("?limit=2"), await numbers("?before=3&limit=1")]).toEqual([
      [4, 3, 2, 1],
      [4, 3],
      [2],
    ]);
    const audit = await (await send("GET", "/-/table/audit")).json<{ entries: object[] }>();
    expect(audit.entries[0]).toMatchObject({ action: "rollback", author: "anybody", outcome: "done", revision: 4 });
    for (const query of ["?limit=0", "?limit=101", "?before=x", "?limit="]) {
      expect(slug(await problemOf(await send("GET", `/-/table/audit${query}`)))).toBe("malformed-request");
    }
    const wrong: [unknown, string][] = [
      [{ to: 9 }, "unknown-revision"],
      [{}, "malformed-request"],
      ['{"to":1,"to":2}', "malformed-request"],
      [{ to: 1, colour: 1 }, "malformed-request"],
    ];
    for (const [body, reason] of wrong) {
      const answer = await send("POST", "/-/table/rollback", body, { "if-match": '"4"' });
      expect(slug(await problemOf(answer))).toBe(reason);
    }
  });

  it("says what truth, KV and this isolate hold", async () => {
    const { send, put } = client();
    await put(0, tableOf(1));
    const answer = await send("GET", "/-/table/status");
    expect(await answer.json()).toMatchObject({
      controlPlane: { revision: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/), time: expect.any(String) },
      isolate: { revision: 0, source: "bundled", ageSeconds: 0 },
      canary: null,
    });
    const uses = await (await send("GET", "/-/table/capacity")).json<Record<string, object>>();
    expect(uses["routes"]).toEqual({ used: 6, max: 200_000 });
    const wanted = { ...DECLARED_TABLE, routes: DECLARED_TABLE.routes.slice(1) };
    const measured = await (await send("POST", "/-/table/capacity", wanted)).json<Record<string, object>>();
    expect(measured).toMatchObject({
      routes: { used: wanted.routes.length },
      bytes: { used: JSON.stringify(wanted).length },
    });
    const faulty = await send("POST", "/-/table/capacity", { ...wanted, regions: {} });
    expect([faulty.status, slug(await problemOf(faulty))]).toEqual([422, "invalid-table"]);
  });

  it("takes no other methods", async () => {
    const { send } = client();
    for (const path of [
      "",
      "/check",
      "/diff",
      "/revisions",
      "/revisions/1",
      "/rollback",
      "/status",
      "/capacity",
      "/audit",
      "/canary",
    ]) {
      expect(slug(await problemOf(await send("DELETE", `/-/table${path}`)))).toBe("method-not-allowed");
    }
  });
});
