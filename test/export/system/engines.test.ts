import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../../../src/export/index.ts";
import { type Beside, startBeside } from "../compare.ts";
import { askAll, freePort, isInstalled, requestFor, startEngine } from "../engines.ts";
import richTable from "../rich-table.json" with { type: "json" };

const RUNNABLE = ENGINES.filter((engine) => engine !== "envoy");
for (const engine of RUNNABLE.filter((each) => !isInstalled(each)))
  process.stderr.write(`note: ${engine} is not installed here, so what is exported to it was not tried\n`);

describe.each(RUNNABLE.filter(isInstalled))("%s beside the gateway", (engine) => {
  let beside: Beside;
  beforeAll(async () => {
    beside = await startBeside(engine, richTable);
  });
  afterAll(() => beside?.stop());

  /** IDs that go to one origin of a region: one for each set of fields. */
  const PATHS = {
    full: "/parcels/6a1ccb7f-bbaa-01cc-0201-0203d0000000",
    standard: "/posts/1541815603606036480",
    minimal: "/rides/0192f0c1-7a30-8005-8080-8f3b2a1c9d78",
  };
  const PATH = PATHS.full;

  /** The request at an origin, without the fields that differ by nature. */
  const seen = async (port: number, fields: readonly string[], method = "GET", path = PATH, content = "") => {
    const [answer] = await askAll(port, [requestFor(path, method, fields) + content]);
    const body = answer?.body ?? "";
    const { fields: got } = JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1)) as {
      fields: Record<string, string>;
    };
    const { "waybill-revision": _, connection: _own, ...rest } = got;
    return rest;
  };

  const TRACE = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it.each([
    ["nothing", []],
    [
      "usual fields",
      ["accept: */*", "user-agent: test", "cookie: a=b; c=d", "authorization: Bearer x", "x-api-key: 1"],
    ],
    ["another's address", ["x-real-ip: 1.2.3.4", "true-client-ip: 9.9.9.9"]],
    [
      "fields with a stopped prefix",
      ["waybill-region: us", "waybill-anything: 1", "x-forwarded-server: a", "X-Forwarded-Port: 1"],
    ],
    ["an ask to be told how it was decided", ["waybill-debug: 1"]],
    ["a trace", [TRACE]],
    ["a trace that is none", ["traceparent: 00-xyz"]],
    ["a trace of a future version", [`${TRACE.replace(" 00", " cc")}-more`]],
    ["a trace of a version that is none", [TRACE.replace(" 00", " ff")]],
    ["another tracer's fields", ["b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1", "x-b3-sampled: 1"]],
    ["a trace with its state", [TRACE, "tracestate: a=1,b=2"]],
    ["via and cdn-loop", ["via: 1.0 other", "cdn-loop: other"]],
    ["a method override", ["x-http-method-override: DELETE"]],
    ["fields named away", ["connection: keep-alive, x-gone", "x-gone: 1", "x-kept: 2"]],
    ["fields named away by a second connection", ["connection: keep-alive", "connection: x-gone", "x-gone: 1"]],
    ["fields named away after an empty connection", ["connection:", "connection: x-gone", "x-gone: 1"]],
    ["connection twice, and nothing named", ["connection: Keep-Alive", "connection: keep-alive", "x-kept: 2"]],
    ["a name that is a stopped prefix alone", ["waybill-: 1", "WAYBILL-: 2"]],
    ["a name of JavaScript", ["--proto--: 1", "__proto__: 2"]],
    ["two traces", [TRACE, TRACE]],
    ["a trace after one that is none", ["traceparent: 00-xyz", TRACE]],
    ["a trace before one that is none", [TRACE, "traceparent: 00-xyz"]],
    ["many fields", [...Array.from({ length: 125 }, (_, at) => `x-many-${at}: 1`), "waybill-region: us"]],
    [
      "too many fields to look at",
      [...Array.from({ length: 150 }, (_, at) => `x-many-${at}: 1`), "waybill-region: us"],
    ],
    ["a target of others", ["x-original-url: /other", "x-rewrite-url: /other"]],
  ])("origins get the same of a request with %s", async (_, fields) => {
    const ours = await seen(beside.gateway, fields);
    const theirs = await seen(beside.beside.port, fields);
    expect(theirs).toEqual(ours);
    for (const path of [PATHS.standard, PATHS.minimal]) {
      expect(await seen(beside.beside.port, fields, "GET", path)).toEqual(
        await seen(beside.gateway, fields, "GET", path),
      );
    }
  });

  /** Fields of an answer that tell how its request was decided. */
  const labels = async (port: number, path: string, fields: readonly string[] = []) => {
    const [answer] = await askAll(port, [requestFor(path, "GET", fields)]);
    const lines = answer?.head.toLowerCase().split("\r\n") ?? [];
    return lines.filter((line) => /^(?:via|server-timing|waybill-)/.test(line)).toSorted();
  };

  it.each(["standard", "minimal"] as const)("clients get the labels of %s", async (set) => {
    expect(await labels(beside.beside.port, PATHS[set])).toEqual(await labels(beside.gateway, PATHS[set]));
  });

  it("clients get the labels of full but the table and the time", async () => {
    const ours = await labels(beside.gateway, PATHS.full);
    const left = ours.filter((line) => /^(?:server-timing|waybill-table)/.test(line));
    expect(left).toHaveLength(2);
    expect(await labels(beside.beside.port, PATHS.full)).toEqual(ours.filter((line) => !left.includes(line)));
  });

  it.each(Object.entries(PATHS))(
    "a client that asks how it was decided is shown nothing more than %s",
    async (_, path) => {
      const { port } = beside.beside;
      expect(await labels(port, path, ["waybill-debug: 1"])).toEqual(await labels(port, path));
    },
  );

  it("a client names no address for itself", async () => {
    const fields = await seen(beside.beside.port, ["x-forwarded-for: 1.2.3.4", "forwarded: for=1.2.3.4"]);
    expect(fields).toMatchObject({ "x-forwarded-for": "127.0.0.1" });
    expect(JSON.stringify(fields)).not.toContain("1.2.3.4");
  });

  it("a write of any kind goes where the gateway sends it", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const fields = ["content-length: 0"];
      expect(await seen(beside.beside.port, fields, method)).toEqual(await seen(beside.gateway, fields, method));
    }
  });

  it("trailers reach no origin", async () => {
    const fields = ["transfer-encoding: chunked"];
    const content = "1\r\nx\r\n0\r\nwaybill-region: us\r\nx-forwarded-for: 6.6.6.6\r\n\r\n";
    const sent = async (port: number) => {
      const got: Record<string, unknown> = await seen(port, fields, "POST", PATH, content);
      return { ...got, "content-length": undefined, "transfer-encoding": undefined };
    };
    const got = await sent(beside.beside.port);
    expect(got).toEqual(await sent(beside.gateway));
    expect(JSON.stringify(got)).not.toContain("6.6.6.6");
  });

  it.each([
    "web.1",
    "1.2.3.999",
    "0x7f.1",
    "127.1",
    "127.0.0.01",
    "a%41",
    "[::1",
    "gw.test:65536",
    "gw.test:99999",
    "x.1.:80",
    "1.2.3.4",
    "1.2.3.4:60001",
    "gw.test:",
    "gw.test:00080",
    "gw.test.",
    "a_b",
    "1e",
    "[::1]:80",
  ])("the host %s is taken or refused as by the gateway", async (host) => {
    const bytes = requestFor(PATH).replace(/^host:.*$/im, `host: ${host}`);
    const statuses = await Promise.all(
      [beside.gateway, beside.beside.port].map(async (port) => (await askAll(port, [bytes]))[0]?.status),
    );
    expect(statuses[1]).toBe(statuses[0]);
    // Alone it decides, or says that it cannot.
    expect([statuses[0], 503, 400]).toContain((await askAll(beside.alone.port, [bytes]))[0]?.status);
  });

  it("a method that few programs know is Waybill's to answer", async () => {
    const methods = ["FOO", "M-SEARCH", "PROPFIND", "QUERY"];
    const ask = (port: number) =>
      Promise.all(methods.map(async (method) => (await askAll(port, [requestFor(PATH, method)]))[0]?.status));
    expect(await ask(beside.beside.port)).toEqual(await ask(beside.gateway));
    expect(new Set(await ask(beside.alone.port))).toEqual(new Set([503]));
  });

  it("a NUL in a field is refused", async () => {
    const [answer] = await askAll(beside.alone.port, [requestFor(PATH, "GET", ["x-any: a\0b"])]);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining("/-/problems/malformed-request") });
  });

  it("large heads of many fields end no process", async () => {
    const head = (count: number, length: number) =>
      requestFor(PATH, "GET", [
        ...Array.from({ length: count }, (_, at) => `c12345678${at % 10}: ${randomBytes(length / 2).toString("hex")}`),
        "waybill-region: us",
      ]);
    const requests = Array.from({ length: 300 }, (_, at) => head(100 + (at % 60), 1_500));
    const answers = await askAll(beside.alone.port, requests);
    expect(answers.every(({ status }) => status !== 0)).toBe(true);
    const log = join(beside.alone.folder, "state", "error.log");
    expect(existsSync(log) ? readFileSync(log, "utf8") : "").not.toContain("signal");
  });

  it("an origin's labels are the gateway's, and those of the origin do not pass", async () => {
    const [answer] = await askAll(beside.beside.port, [requestFor(PATH)]);
    expect(answer?.head).toMatch(/\r\nwaybill-region: eu/i);
    expect(answer?.head).toMatch(/\r\nwaybill-layout: hotguid/i);
    expect(answer?.head).toMatch(/\r\nvia: 1\.1 waybill/i);
  });

  it("has the name of its deployment", async () => {
    const { declared } = beside.origins;
    const named = await startEngine(engine, declared, undefined, (text) => text, { gatewayName: "eu-edge" });
    const ask = async (fields: readonly string[]) => {
      const [answer] = await askAll(named.port, [requestFor(PATH, "GET", fields)]);
      return answer;
    };
    const answer = await ask(["cdn-loop: waybill", "via: 1.0 other"]);
    expect(answer?.head).toMatch(/\r\nvia: 1\.1 eu-edge/i);
    expect(answer?.body).toMatch(/"cdn-loop":"waybill, ?eu-edge"/);
    expect(answer?.body).toMatch(/"via":"1\.0 other, ?1\.1 eu-edge"/);
    // Only a gateway can say that it is a loop.
    expect((await ask(["cdn-loop: a, eu-edge"]))?.status).toBe(503);
    await named.stop();
  });

  it("refuses a request that passed it before", async () => {
    const [answer] = await askAll(beside.beside.port, [requestFor(PATH, "GET", ["cdn-loop: waybill"])]);
    expect(answer?.status).toBe(508);
  });

  it("a gateway that cannot be reached is a problem of its status", async () => {
    const lost = await startEngine(engine, beside.origins.declared, `http://127.0.0.1:${await freePort()}`);
    const [answer] = await askAll(lost.port, [requestFor("/nowhere/else")]);
    await lost.stop();
    expect(answer?.status).toBeGreaterThanOrEqual(500);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({ status: answer?.status });
  });

  it("its own refusals are problems", async () => {
    const [unknown, odd] = await askAll(beside.alone.port, [requestFor("/nowhere"), requestFor(`${PATH}x`)]);
    // The rich table has paths without IDs, which only Waybill knows.
    for (const answer of [unknown, odd]) {
      expect(answer?.status).toBe(503);
      expect(answer?.head).toMatch(/\r\ncontent-type: application\/problem\+json/i);
      expect(JSON.parse(answer?.body.replace(/^[0-9a-f]+\r\n/, "").replace(/\r\n0\r\n\r\n$/, "") ?? "")).toMatchObject({
        status: 503,
      });
    }
  });
});
