import { describe, expect, it } from "vitest";
import { replayLog } from "../../../src/cli/commands/table/diff.ts";
import type { Runtime } from "../../../src/cli/runtime.ts";
import { LOG_FORMATS, parseLogLine } from "../../../src/features/replay/log-lines.ts";
import { formatLogLine } from "../../../src/host/project/lines.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { CWD, type MemoryFiles, tableFiles } from "../memory-files.ts";

const KZ = "019e807a-ec00-8005-805e-2d8e9c7ac355";
const files = tableFiles();
const [kz, ...others] = DECLARED_TABLE.routes;
const withoutId = { list: { path: "/orders", sources: [{ header: "x-home" }] } };
const AFTER = { ...DECLARED_TABLE, routes: [{ ...kz, region: "us" }, ...others] };
files.write("before.json", JSON.stringify({ ...DECLARED_TABLE, withoutId }));
files.write("after.json", JSON.stringify({ ...AFTER, withoutId }));
const LOG = [
  JSON.stringify({
    event: "request",
    time: "2026-11-21T12:00:00.000Z",
    method: "GET",
    path: `/orders/${KZ}`,
    status: 200,
  }),
  JSON.stringify({ event: "table-loaded", revision: 41 }),
  `/any/${KZ}?a=b`,
  "",
  `DELETE /orders/${KZ}/lines/4`,
  "/orders",
  JSON.stringify({ method: "GET", path: "/nothing" }),
  "no request",
  '{"method":"GET"',
].join("\n");
files.write("requests.ndjson", LOG);

describe("a line that npm start prints", () => {
  it("is a request", () => {
    const line = JSON.stringify({
      event: "request",
      method: "GET",
      path: `/any/${KZ}`,
      layout: "iuid",
      status: 200,
      ms: 12,
    });
    const request = { method: "GET", path: `/any/${KZ}` };
    expect(parseLogLine(formatLogLine(line, (_, text) => text))).toEqual({ kind: "request", request });
    expect(parseLogLine("GET /a b")).toEqual({ kind: "unreadable", why: "text" });
  });
});

const replay = (...args: readonly string[]) =>
  waybill(["table", "replay", "requests.ndjson", "--old", "before.json", "--new", "after.json", ...args], { files });

const SUMMARY = [
  "5 requests: 3 routed differently, 1 unchanged, 1 undetermined by the log",
  "skipped: 1 line of other events",
  "skipped: 2 lines that cannot be read (1 in no known form, 1 JSON without the method and path of a known log); the first is line 8",
  "  order  ap → us  3 requests  60 %",
  "",
].join("\n");

describe.concurrent("waybill table replay", () => {
  it("lists every request that goes elsewhere, or may", async () => {
    expect(await replay("--exit-code")).toEqual({
      stdout: [
        `GET /orders/${KZ}  order  ap → us`,
        `GET /any/${KZ}?a=b  order  ap → us`,
        `DELETE /orders/${KZ}/lines/4  order  ap → us`,
        "GET /orders  list  (by its fields)?",
        "",
      ].join("\n"),
      stderr: SUMMARY,
      code: 2,
    });
  });

  it("gives one object a line, and only what certainly changes when asked for no more", async () => {
    const { stdout, stderr, code } = await replay("--json", "--only-changed");
    expect({ stderr, code }).toEqual({ stderr: SUMMARY, code: 0 });
    const steps = objectsOf(stdout);
    expect(steps.map(({ line }) => line)).toEqual([1, 3, 5]);
    expect(steps[0]).toEqual({
      line: 1,
      method: "GET",
      path: `/orders/${KZ}`,
      verdict: "changed",
      before: { kind: "region", region: "ap", entity: "order" },
      after: { kind: "region", region: "us", entity: "order" },
    });
  });

  it("takes revisions of a gateway as well as files", async () => {
    const plane = fakeControlPlane(DECLARED_TABLE);
    plane.revisions.push({ revision: 2, text: JSON.stringify(AFTER), kind: "publish", note: "", basedOn: 1 });
    const args = ["table", "replay", "-", "--old", "1", "--new", "2", "--exit-code"];
    const { stdout, code } = await waybill(args, { files, ...plane.access, stdin: `/rides/${KZ}\n/orders/${KZ}\n` });
    expect({ stdout, code }).toEqual({ stdout: `GET /orders/${KZ}  order  ap → us\n`, code: 2 });
    const same = await waybill(["table", "replay", "-", "--old", "2", "--new", "after.json", "--exit-code"], {
      files,
      ...plane.access,
      stdin: `/orders/${KZ}\n`,
    });
    expect(same).toEqual({ stdout: "", stderr: "1 request: 0 routed differently, 1 unchanged\n", code: 0 });
  });

  it("decides by packs beside the tables, for revisions too, and says which pack is nowhere", async () => {
    const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
    const folder = tableFiles({ ...DECLARED_TABLE, routes });
    const table = `${CWD}/routing-table.json`;
    const pack = (stdin: string) =>
      waybill(["table", "pack", "-", "--layout", "hotguid", "--table", table, "--name", "shards"], {
        files: folder,
        stdin,
      });
    const texts: string[] = [];
    for (const line of ["0,999,us\n", "0,999,eu\n"]) {
      expect((await pack(line)).code).toBe(0);
      texts.push(folder.text(table));
    }
    const [old = "", current = ""] = texts;
    const plane = fakeControlPlane(JSON.parse(old));
    plane.revisions.push({ revision: 2, text: current, kind: "publish", note: "", basedOn: 1 });
    const stdin = "/any/6347eb00-bbaa-01cc-0201-02030a000000\n";
    const run = (from: string, to: string, files: MemoryFiles) =>
      waybill(["table", "replay", "-", "--old", from, "--new", to], { files, ...plane.access, stdin });
    const changed = {
      stdout: `GET ${stdin.trim()}  parcel  us → eu\n`,
      stderr: "1 request: 1 routed differently, 0 unchanged\n  parcel  us → eu  1 request  100 %\n",
      code: 0,
    };
    expect(await run("1", "routing-table.json", folder)).toEqual(changed);
    expect(await run("1", "2", folder)).toEqual(changed);
    expect(await run("1", table, folder.from("/elsewhere"))).toEqual(changed);
    const { sha256 } = JSON.parse(old).packs.shards;
    folder.remove(`packs/${sha256}.pack`);
    const { stdout, stderr, code } = await run("1", "2", folder);
    expect({ stdout, code }).toEqual({ stdout: `GET ${stdin.trim()}  parcel  eu?\n`, code: 0 });
    expect(stderr).toBe(
      `note: pack shards of revision 1 is missing (packs/${sha256}.pack): IDs that depend on it stay undetermined\n` +
        "1 request: 0 routed differently, 0 unchanged, 1 undetermined by the log\n",
    );
  });

  it.each([
    {
      args: ["absent.ndjson", "--old", "before.json", "--new", "after.json"],
      error: "absent.ndjson cannot be read: no such file",
      code: 1,
    },
    { args: ["/", "--old", "before.json", "--new", "after.json"], error: "/ cannot be read: it is a folder", code: 1 },
    {
      args: ["-", "--old", "-", "--new", "after.json"],
      error: "only one of the log and the two tables can be stdin",
    },
    { args: ["-", "--old", "before.json", "--new", "after.json"], error: "- has no request", code: 1 },
    { args: ["requests.ndjson", "--old", "41", "--new", "after.json"], error: "no gateway given" },
    { args: ["requests.ndjson", "--old", "before.json"], error: "required option '--new <table>'" },
  ])("$args: $error", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await waybill(["table", "replay", ...args], { files });
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(error);
  });
});

describe("waybill table diff --log", () => {
  it("says how many requests of each entity go from where to where", async () => {
    const args = ["table", "diff", "before.json", "after.json", "--log", "requests.ndjson"];
    const { stdout, stderr } = await waybill(args, { files });
    expect(stdout.slice(stdout.indexOf("requests routed"))).toBe(
      "requests routed differently\n  order  ap → us  3 requests  60 %\n",
    );
    expect(stderr).toMatch(/^5 requests: 3 routed differently/);
    const [asJson] = objectsOf((await waybill([...args, "--json"], { files })).stdout);
    expect(asJson).toMatchObject({
      traffic: {
        requests: 5,
        changed: 3,
        same: 1,
        open: 1,
        changes: [{ entity: "order", from: "ap", to: "us", requests: 3 }],
      },
    });
  });
});

describe("a log of any length", () => {
  const compiled = (declared: object) => {
    const table = loadTable(declared, 0);
    if (!table.ok) throw new Error(JSON.stringify(table.error));
    return table.value;
  };

  it("is read as a stream, with a bar on a terminal and in the memory of a chunk", async () => {
    const chunk = new TextEncoder().encode(`/orders/${KZ}\n`.repeat(100));
    const reports: string[] = [];
    let alive = 0;
    let most = 0;
    let elapsedMs = 0;
    async function* chunks() {
      for (let at = 0; at < 200; at++) {
        most = Math.max(most, ++alive);
        elapsedMs += 50;
        yield chunk;
        alive -= 1;
      }
    }
    const runtime = {
      nowMs: () => Date.UTC(2026, 10, 21) + elapsedMs,
      isReportWatched: true,
      report: (text: string) => reports.push(text),
      openFile: async () => ({ ok: true, value: { bytes: 200 * chunk.length, chunks: chunks() } }),
    } as unknown as Runtime;
    const tally = await replayLog("big.log", compiled(DECLARED_TABLE), compiled(AFTER), runtime);
    expect(tally).toMatchObject({ requests: 20_000, changed: 20_000, changes: [{ requests: 20_000 }] });
    expect(most).toBe(1);
    expect(reports).toHaveLength(101);
    expect(reports[49]).toContain(`[${"#".repeat(10)}${".".repeat(10)}] 50 %  `);
    expect(reports.at(-1)).toBe("\r\u001b[K");
  });
});

/** One request as each proxy logs it by default, as its documents print it. */
const LOGGED: Readonly<Record<string, readonly (readonly [line: string, request: string])[]>> = {
  combined: [
    [
      '192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET /orders/1?a=b HTTP/1.1" 200 153 "-" "curl/8.5.0"',
      "GET /orders/1?a=b",
    ],
    [
      '2001:db8::1 - ann lee [21/Nov/2026:12:00:00 +0000] "POST /orders HTTP/2.0" 201 5 "https://a/[b]" "x \\"y\\""',
      "POST /orders",
    ],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.0" 304 -', "GET /a"],
    ['api.example.com:443 192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"', "GET /a"],
    [
      '192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "-" 1 "router@docker" "http://10.0.0.2" 3ms',
      "GET /a",
    ],
    [
      '[2026-11-21T12:00:00.000Z] "PATCH /a?b HTTP/2" 204 - 154 0 226 100 "192.0.2.7" "curl" "id" "host" "10.0.0.2:80"',
      "PATCH /a?b",
    ],
    // Bytes of UTF-8, a quotation mark and a backslash in the target: nginx and Apache escape them.
    [
      '192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET /caf\\xC3\\xa9\\x22 HTTP/1.1" 200 5 "-" "-"',
      "GET /caf%C3%A9%22",
    ],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET http://api.example.com/a?b HTTP/1.1" 200 5 "-" "-"', "GET /a?b"],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "GET http://api.example.com HTTP/1.1" 200 5 "-" "-"', "GET /"],
  ],
  alb: [
    [
      'https 2026-11-21T12:00:00.186641Z app/lb/50dc6c495c0c9188 192.0.2.7:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://api.example.com:443/orders/1?a=b HTTP/1.1" "curl/8.5.0" ECDHE TLSv1.3 arn:aws:x "Root=1-58337262" "api.example.com" "arn" 1 2026-11-21T12:00:00.086000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"',
      "GET /orders/1?a=b",
    ],
    [
      '2026-11-21T12:00:00.945958Z lb 192.0.2.7:2817 10.0.0.1:80 0.000073 0.001 0.00005 200 200 0 29 "POST http://api.example.com:80/orders HTTP/1.1" "curl" - -',
      "POST /orders",
    ],
  ],
  heroku: [
    [
      '2026-11-21T12:00:00+00:00 heroku[router]: at=info method=GET path="/orders/1?a=b" host=a.herokuapp.com request_id=8 fwd="192.0.2.7" dyno=web.1 connect=1ms service=8ms status=200 bytes=5',
      "GET /orders/1?a=b",
    ],
  ],
  caddy: [
    [
      '{"level":"info","ts":1646861401.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/orders/1?a=b","headers":{}},"status":200}',
      "GET /orders/1?a=b",
    ],
  ],
  traefik: [
    [
      '{"ClientAddr":"192.0.2.7:1","DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/orders/1?a=b","RequestProtocol":"HTTP/2.0","level":"info","msg":"","time":"2026-11-21T12:00:00Z"}',
      "GET /orders/1?a=b",
    ],
  ],
  envoy: [
    [
      '{"start_time":"2026-11-21T12:00:00Z","method":"GET","path":"/orders/1?a=b","protocol":"HTTP/2","response_code":200}',
      "GET /orders/1?a=b",
    ],
  ],
  cloudflare: [
    [
      '{"ClientRequestHost":"a","ClientRequestMethod":"GET","ClientRequestURI":"/orders/1?a=b","EdgeResponseStatus":200}',
      "GET /orders/1?a=b",
    ],
  ],
  waybill: [
    ['{"event":"request","method":"GET","path":"/orders/1"}', "GET /orders/1"],
    ["/orders/1", "GET /orders/1"],
    ["GET   /orders/1  iuid  eu  200  1.5 ms", "GET /orders/1"],
  ],
};

describe("logs of other proxies", () => {
  it("are all those that the option names", () => {
    expect(Object.keys(LOGGED).sort()).toEqual(LOG_FORMATS);
  });

  it.each(
    Object.entries(LOGGED).flatMap(([format, lines]) => lines.map(([line, request]) => ({ format, line, request }))),
  )("$format: $line", ({ format, line, request }) => {
    const [method = "", path = ""] = request.split(" ");
    const read = { kind: "request", request: { method, path } };
    expect(parseLogLine(line)).toEqual(read);
    expect(parseLogLine(line, format)).toEqual(read);
    const others = LOG_FORMATS.filter((other) => parseLogLine(line, other).kind === "request");
    // Objects of Envoy and Waybill have the same members.
    expect(others.filter((other) => other !== "waybill" && other !== "envoy" && other !== format)).toEqual([]);
  });

  it.each([
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "-" 408 0 "-" "-"', "request"],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "" 400 0 "-" "-"', "request"],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "\\x16\\x03\\x01" 400 150 "-" "-"', "request"],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "OPTIONS * HTTP/1.0" 200 0 "-" "-"', "request"],
    ['192.0.2.7 - - [21/Nov/2026:12:00:00 +0000] "CONNECT a.example:443 HTTP/1.1" 405 0 "-" "-"', "request"],
    ['http 2026-11-21T12:00:00.1Z app/lb/5 192.0.2.7:2817 - -1 -1 -1 400 - 0 0 "- http://a:80- -" "-" - -', "request"],
    ["2026/11/21 12:00:00 [error] 7#7: *1 connect() failed", "text"],
    ['{"path":7}', "json"],
    ['{"request":{"method":"GET"}}', "json"],
    ['{"RequestMethod":["GET"],"RequestPath":"/a"}', "json"],
    ['{"method":"GET","path":"*"}', "request"],
    ["GET /caf\uFFFD", "not-utf-8"],
    ["\uFFFD\uFFFD", "not-utf-8"],
  ])("count as unreadable: %s", (line, why) => {
    expect(parseLogLine(line)).toEqual({ kind: "unreadable", why });
  });

  it("have events of other kinds", () => {
    expect(parseLogLine('{"level":"info","logger":"tls","msg":"certificate obtained"}')).toEqual({ kind: "other" });
    expect(parseLogLine('{"event":"table-loaded"}', "waybill")).toEqual({ kind: "other" });
  });

  const run = (stdin: string, ...args: readonly string[]) =>
    waybill(["table", "replay", "-", "--old", "before.json", "--new", "after.json", ...args], { files, stdin });

  it("say how many lines cannot be read, why, and which form is wanted", async () => {
    const { code, stderr } = await run(`hello\n{"a":1}\n/${"x".repeat(70_000)}\n\n[${"y".repeat(70_000)}`);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "error: - has no request\n" +
        "skipped: 4 lines that cannot be read (1 in no known form, 1 JSON without the method and path of a known log, " +
        "2 too long); the first is line 1\n" +
        'A line is a path, "GET /path", JSON with "path" and "method", or of another log: ' +
        `${LOG_FORMATS.join(", ")}.\n`,
    );
    expect((await run("\x1f\uFFFD\b")).stderr).toContain("- is compressed: gunzip -c FILE |");
  });

  it("are read line by line, or in one form alone", async () => {
    const [[combined = ""] = []] = LOGGED["combined"] ?? [];
    const mixed = `${combined}\n/orders/1\n${"x".repeat(200_000)}\n/orders/2\n`;
    expect((await run(mixed)).stderr).toContain("3 requests: 0 routed differently");
    const one = await run(mixed, "--format", "combined");
    expect(one.stderr).toContain("1 request: 0 routed differently, 1 unchanged\nskipped: 3 lines that cannot be read");
    expect((await run(mixed, "--format", "iis")).stderr).toContain("Allowed choices are");
  });
});
