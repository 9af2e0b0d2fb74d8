import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { TABLE_FILE } from "../../src/demo/table.ts";
import { type Engine, exportTable } from "../../src/export/index.ts";
import { stopChild } from "../../src/host/child.ts";
import type { DeclaredTable } from "../../src/routing/index.ts";
import type { FieldSet } from "../../src/routing/table.ts";
import { asOneProcess, COMMANDS, EXPORT_OPTIONS, freePort } from "../../test/export/engines.ts";
import { processorMs } from "../lib/process-usage.ts";
import type { BenchOptions, Section } from "../lib/report.ts";
import { inTurn, ratios, spread } from "../lib/sample.ts";

/** One process on one processor for each engine; load and origins on the other. */
const ENGINE_ON = "0";
const LOAD_ON = "1";

const CONNECTIONS = "64";

/** A turn is as long as that of the gateway's benchmark. */
const TURN_PER_SAMPLE = 25;

const BY_HAND = "by hand: one expression, one map, three fields";

interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

interface Turn {
  readonly perSecond: number;
  readonly processorUs: number;
}

/** The exported engine beside a map of the same engine, as one would write it by hand. */
export async function throughputOf(engine: Engine, { rounds, sampleMs, progress }: BenchOptions): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-exports-"));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const origin = await freePort();
    writeFileSync(join(folder, "origin.conf"), originText(folder, origin));
    stops.push(await start(LOAD_ON, "nginx", ["-p", folder, "-c", "origin.conf"], origin).then(({ stop }) => stop));
    const script = join(folder, "requests.lua");
    writeFileSync(script, REQUESTS);
    const subjects: Subject[] = [];
    for (const [name, write] of Object.entries(subjectsOf(engine))) {
      const own = join(folder, String(subjects.length));
      mkdirSync(join(own, "state"), { recursive: true });
      const port = await freePort();
      const args = write(own, port, `127.0.0.1:${origin}`);
      const { pid, stop } = await start(ENGINE_ON, engine, args, port);
      stops.push(stop);
      subjects.push({ name, port, pid });
    }
    const turn = ({ port, pid }: Subject) => measure(port, pid, script, sampleMs * TURN_PER_SAMPLE);
    for (const subject of subjects) await turn(subject);
    const turns = await inTurn(subjects, rounds, turn, (round) =>
      progress(`exports: ${engine}, round ${round} of ${rounds}`),
    );
    const reference = turns.get(BY_HAND) ?? [];
    const column = (own: readonly Turn[], read: (turn: Turn) => number) => own.map(read);
    return {
      title: `Exports: ${engine}, ${CONNECTIONS} connections, small responses`,
      note: `Median (range) over ${rounds} round(s); ratios to the hand-written map's turn of the same round. One process on one processor.`,
      columns: ["what", "requests/s", "x by hand", "processor us", "x by hand"],
      rows: [...turns].map(([name, own]) => [
        name,
        spread(column(own, ({ perSecond }) => perSecond)),
        spread(
          ratios(
            column(own, ({ perSecond }) => perSecond),
            column(reference, ({ perSecond }) => perSecond),
          ),
        ),
        spread(column(own, ({ processorUs }) => processorUs)),
        spread(
          ratios(
            column(own, ({ processorUs }) => processorUs),
            column(reference, ({ processorUs }) => processorUs),
          ),
        ),
      ]),
    };
  } finally {
    await Promise.all(stops.map((stop) => stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(port: number, pid: number, script: string, durationMs: number): Promise<Turn> {
  const before = processorMs(pid) ?? Number.NaN;
  const seconds = Math.max(1, Math.round(durationMs / 1000));
  const { stdout } = await promisify(execFile)("taskset", [
    "-c",
    LOAD_ON,
    "wrk",
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    "-s",
    script,
    ...FIELDS.flatMap((field) => ["-H", field]),
    `http://127.0.0.1:${port}`,
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not every answer was good: ${stdout}`);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? Number.NaN);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
  return { perSecond, processorUs: (((processorMs(pid) ?? Number.NaN) - before) * 1000) / requests };
}

async function start(processor: string, program: string, args: readonly string[], port: number) {
  const child = spawn("taskset", ["-c", processor, program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  for (let turn = 0; ; turn++) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
    if (isUp) break;
    if (turn > 100 || child.exitCode !== null) throw new Error(`${program} does not listen: ${log}`);
    await delay(50);
  }
  return { pid: child.pid ?? 0, stop: () => stopChild(child) };
}

const FIELDS = [
  "user-agent: ExampleApp/8.4.1 (iPhone; iOS 19.1)",
  "accept: application/json",
  "accept-encoding: gzip, br",
  "accept-language: kk-KZ,ru;q=0.8",
  "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
  "x-app-version: 8.4.1",
  "x-device-id: 7f1b2c3d",
];

/** IDs of all countries of the demo's table. */
const REQUESTS = `local targets = {}
for at = 1, 1000 do
  targets[at] = string.format("/orders/0192f0c1-7a30-80%02x-8040-%012x?limit=20", 5 + at % 7, at * 7919)
end
local next = 0
request = function()
  next = next + 1
  return wrk.format("GET", targets[next % 1000 + 1])
end
`;

const processText = (folder: string): string => `daemon off;
master_process off;
pid ${folder}/own.pid;
error_log ${folder}/own.log;
events { worker_connections 4096; }
`;

const httpText = (folder: string): string =>
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};\n`).join("");

const originText = (folder: string, port: number): string => `${processText(folder)}
http {
  ${httpText(folder)}
  access_log off;
  keepalive_requests 100000000;
  server {
    listen 127.0.0.1:${port};
    default_type application/json;
    location / { return 200 '{"id":"0192f0c1","state":"delivered"}\\n'; }
  }
}
`;

/** Writes the files of a subject, and gives the arguments of its program. */
type Write = (folder: string, port: number, origin: string) => readonly string[];

const EXPRESSION = "^/orders/[0-9a-f]{8}-[0-9a-f]{4}-80[0-9a-f]{2}-[0-9a-f]{4}-[0-9a-f]{12}";

const COUNTRIES = { "05": "ap", "06": "ap", "0b": "ap", "07": "us", "08": "us", "09": "eu", "0a": "eu" };

function exported(
  engine: Engine,
  folder: string,
  port: number,
  origin: string,
  fields: FieldSet = "standard",
): readonly string[] {
  const table = { ...(JSON.parse(readFileSync(TABLE_FILE, "utf8")) as DeclaredTable), fields };
  const regions = Object.fromEntries(
    Object.keys(table.regions).map((name) => [name, { origins: [{ url: `http://${origin}` }] }]),
  );
  const options = {
    ...EXPORT_OPTIONS,
    listen: `127.0.0.1:${port}`,
    waybill: "http://127.0.0.1:1",
    stateFolder: join(folder, "state"),
    folder,
  };
  for (const { name, text } of exportTable(engine, { ...table, regions }, options).files) {
    writeFileSync(join(folder, name), asOneProcess(text));
  }
  return COMMANDS[engine]?.(folder) ?? [];
}

const NGINX: Readonly<Record<string, Write>> = {
  [BY_HAND]: (folder, port, origin) => {
    const upstreams = ["eu", "us", "ap"].map(
      (name) => `upstream ${name} { server ${origin}; keepalive 64; keepalive_requests 100000000; }`,
    );
    const text = `${processText(folder)}
http {
  ${httpText(folder)}
  access_log off;
  keepalive_requests 100000000;
  map $request_uri $country { "~${EXPRESSION.replace("80[0-9a-f]{2}", "80(?<c>[0-9a-f]{2})")}" $c; }
  map $country $region { ${Object.entries(COUNTRIES)
    .map(([number, region]) => `${number} ${region};`)
    .join(" ")} }
  ${upstreams.join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location / {
      if ($region = "") { return 404; }
      proxy_pass http://$region;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
    writeFileSync(join(folder, "own.conf"), text);
    return ["-p", folder, "-c", "own.conf"];
  },
  "by hand, with the exported one's fields": (folder, port, origin) => {
    const args = exported("nginx", folder, port, origin);
    const path = join(folder, "waybill.conf");
    const byMap = `map $request_uri $country { "~${EXPRESSION.replace("80[0-9a-f]{2}", "80(?<c>[0-9a-f]{2})")}" $c; }
map $country $region { ${Object.entries(COUNTRIES)
      .map(([number, region]) => `${number} ${{ eu: 1, us: 2, ap: 3 }[region]};`)
      .join(" ")} }
server {`;
    const location = `location / {
    if ($region = "") { return 404; }
    set $waybill_traceparent 00-$request_id-b7ad6b7169203331-00;
    proxy_pass http://waybill_\${region}_1;
    proxy_set_header Host $host;
    proxy_set_header waybill-region $region;
    add_header waybill-region $region always;
    include waybill-fields-standard.conf;
  }`;
    const text = readFileSync(path, "utf8")
      .replace("server {\n  listen", () => `${byMap}\n  listen`)
      .replace(/location \/ \{[\s\S]*?\n {2}\}/, () => location);
    writeFileSync(path, text);
    return args;
  },
  exported: (folder, port, origin) => exported("nginx", folder, port, origin),
  "exported, `minimal` fields": (folder, port, origin) => exported("nginx", folder, port, origin, "minimal"),
};

const HAPROXY: Readonly<Record<string, Write>> = {
  [BY_HAND]: (folder, port, origin) => {
    writeFileSync(
      join(folder, "countries.map"),
      Object.entries(COUNTRIES)
        .map((pair) => `${pair.join(" ")}\n`)
        .join(""),
    );
    const text = `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-keep-alive
  http-reuse safe
frontend in
  bind 127.0.0.1:${port}
  acl shape path -m reg ${EXPRESSION}
  http-request return status 404 if !shape
  http-request set-header x-forwarded-for %[src]
  http-request set-header x-forwarded-host %[req.hdr(host)]
  http-request set-header x-forwarded-proto http
  use_backend %[path,bytes(24,2),map_str(${join(folder, "countries.map")},none)]
backend none
${["eu", "us", "ap"].map((name) => `backend ${name}\n  server s ${origin}\n`).join("")}`;
    writeFileSync(join(folder, "own.cfg"), text);
    return ["-db", "-f", join(folder, "own.cfg")];
  },
  "by hand, with the exported one's fields": (folder, port, origin) => {
    const args = exported("haproxy", folder, port, origin);
    const path = join(folder, "haproxy.cfg");
    const map = join(folder, "countries.map");
    const places = { eu: 1, us: 2, ap: 3 } as Readonly<Record<string, number>>;
    writeFileSync(
      map,
      Object.entries(COUNTRIES)
        .map(([number, region]) => `${number} waybill_${places[region]}|iuid|0192f0c1-7a30-8005-8040-8f3b2a1c9d78|\n`)
        .join(""),
    );
    const byMap = `  acl shape path -m reg ${EXPRESSION}
  http-request set-var(txn.waybill) path,bytes(24,2),map_str(${map}) if shape
  http-request set-var(txn.waybill_id) path,bytes(8,36)
`;
    const rules =
      /^ {2}(?:http-request set-var\(txn\.waybill(?:_path|_minted|_id)?\)|acl (?:path|at|named|in_time|too_late)_\d) .*\n/gm;
    const text = readFileSync(path, "utf8");
    if (!text.includes("lua.waybill")) throw new Error("the exported rules were not found");
    writeFileSync(
      path,
      text.replace(rules, "").replace(/^ {2}acl decided/m, (line) => `${byMap}${line}`),
    );
    return args;
  },
  exported: (folder, port, origin) => exported("haproxy", folder, port, origin),
  "exported, `minimal` fields": (folder, port, origin) => exported("haproxy", folder, port, origin, "minimal"),
};

const subjectsOf = (engine: Engine): Readonly<Record<string, Write>> => (engine === "nginx" ? NGINX : HAPROXY);
