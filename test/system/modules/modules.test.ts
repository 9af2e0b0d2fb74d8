import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningOrigin, startOrigins } from "../../../src/demo/origin.ts";
import { tableWithOrigins } from "../../../src/demo/table.ts";
import { tableCodeVersion } from "../../../src/host/parts.ts";
import { bundleWorker } from "../../../src/host/workerd/bundle.ts";
import { type RunningGateway, serveWorker } from "../../../src/host/workerd/gateway.ts";
import { type ModuleFile, readWorker, writeWorker } from "../../../src/host/workerd/modules.ts";
import { tableModules, workerWith } from "../../../src/host/workerd/table-modules.ts";
import { readDemoTable } from "../demo/demo.ts";
import { rawRequest } from "../stack.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-modules-"));
let origins: readonly RunningOrigin[] = [];
let tableText = "";
let modules: readonly ModuleFile[] = [];
let states = 0;
/** A state with the table, so that starts need nothing of the control plane. */
const published = join(folder, "published");

const newState = (): string => {
  const state = join(folder, `${states++}`);
  cpSync(published, state, { recursive: true });
  return state;
};

beforeAll(async () => {
  origins = await startOrigins(0);
  tableText = JSON.stringify(tableWithOrigins(readDemoTable(), origins));
  modules = await workerWith(tableText);
  await (await start(modules, published)).stop();
  for (const { url } of origins) await fetch(url + ORDER, { method: "PUT", body: '{"item":"tea"}' });
});
afterAll(async () => {
  await Promise.all(origins.map((origin) => origin.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const start = (worker: readonly ModuleFile[], stateFolder = newState()): Promise<RunningGateway> =>
  serveWorker(worker, { port: 0, tableText, stateFolder, openPages: true, vars: { REQUEST_LOG: "off" } });

/** Without a set of modules. Callers need credentials. */
const startClosed = (without: RegExp, vars: Readonly<Record<string, string>>): Promise<RunningGateway> => {
  const worker = modules.filter(({ name }) => !without.test(name));
  expect(worker).toHaveLength(modules.length - 1);
  return serveWorker(worker, {
    port: 0,
    tableText,
    stateFolder: newState(),
    vars: { REQUEST_LOG: "off", ...vars },
  });
};

const ORDER = "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const post = (body: object): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

/** A request of each kind, and the module without which it cannot be answered. */
const KINDS: readonly (readonly [kind: string, path: string, init: RequestInit | undefined, module: RegExp])[] = [
  ["an entity", ORDER, undefined, /^core\.js$/],
  ["a page", "/-/problems", undefined, /^routes-pages\.js$/],
  ["a probe", "/-/health", undefined, /^routes-health\.js$/],
  ["metrics", "/-/metrics", undefined, /^edge-metrics-snapshot\.js$/],
  ["a key of a directory", "/shops/corner", undefined, /^features-directory-edge-lookup\.js$/],
  ["a create", "/orders", post({ item: "tea" }), /create-serve-create\.js$/],
  ["a list", "/orders", undefined, /lists-serve-list\.js$/],
  ["GraphQL", "/graphql", post({ query: "{ __typename }" }), /graphql-serve-serve\.js$/],
  ["minting", "/mint", post({ entity: "order", country: "BR", service: 4 }), /mint-pages\.js$/],
];

describe("the modules of a build", () => {
  it("have names of their own that stay the same, and the main one first", async () => {
    expect(modules[0]?.name).toBe("main.js");
    expect(new Set(modules.map(({ name }) => name)).size).toBe(modules.length);
    const again = [...tableModules(tableText, await tableCodeVersion()), ...(await bundleWorker({ minify: true }))];
    const ofBuild = ({ name, code }: ModuleFile) => [name, code];
    expect(again.map(ofBuild)).toEqual(modules.map(ofBuild));
    for (const { name } of modules) expect(name).toMatch(/^[\w.-]+\.(?:js|txt)$/);
  });

  it("name files from the top folder in their maps, wherever the build was run", () => {
    const bundler = new URL("../../../src/host/workerd/bundle.ts", import.meta.url).href;
    const code = `const { bundleWorker } = await import(${JSON.stringify(bundler)});
      const [main] = await bundleWorker();
      console.log(JSON.parse(main.map).sources.join());`;
    const args = ["--input-type=module", "--eval", code];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect(stdout, stderr).toBe("../src/worker/index.ts\n");
  });

  it("are the same for every table but for those of the table", async () => {
    const other = await workerWith(JSON.stringify({ ...JSON.parse(tableText), default: "us" }));
    const changed = other.filter(({ name, code }) => modules.find((each) => each.name === name)?.code !== code);
    expect(changed.map(({ name }) => name).toSorted()).toEqual([
      "routing-table-compiled.txt",
      "routing-table.txt",
      "voucher.js",
    ]);
  });

  it("are read as they were written; a build of an earlier version has one", () => {
    const build = join(folder, "build");
    writeWorker(build, modules);
    const read = readWorker(build);
    expect(read[0]?.name).toBe("main.js");
    expect(new Map(read.map(({ name, code }) => [name, code]))).toEqual(
      new Map(modules.map(({ name, code }) => [name, code])),
    );
    rmSync(join(build, "worker"), { recursive: true });
    writeFileSync(join(build, "worker.js"), "export default {};");
    expect(readWorker(build)).toEqual([{ name: "worker.js", code: "export default {};" }]);
    mkdirSync(join(build, "worker"));
    for (const name of ["core.js", "worker.js"]) writeFileSync(join(build, "worker", name), name);
    expect(readWorker(build).map(({ name }) => name)).toEqual(["worker.js", "core.js"]);
    expect(readWorker(join(folder, "nothing"))).toEqual([]);
  });

  it("can all be imported", async () => {
    const names = modules.map(({ name }) => name).filter((name) => name !== "main.js");
    const code = `${["SequenceBlocks", "TrafficReports", "TableTruth", "IdempotencyKeys", "DirectoryKeys"].map((name) => `export class ${name} {}`).join("\n")}
       const load = (name) => import(name).then(() => undefined, (error) => name + ": " + error);
       export default { fetch: async () => Response.json((await Promise.all(${JSON.stringify(names)}.map((name) => load("./" + name)))).filter((error) => error !== undefined)) };`;
    const gateway = await start([{ name: "main.js", code }, ...modules.slice(1)]);
    try {
      expect(await (await fetch(gateway.url)).json()).toEqual([]);
    } finally {
      await gateway.stop();
    }
  });
});

describe("a module that cannot be loaded", () => {
  const later = KINDS.slice(1);
  const damages: readonly (readonly [string, (code: string) => string | undefined])[] = [
    ["is missing", () => undefined],
    ["is cut off", (code) => code.slice(0, code.length / 2)],
    ["throws when it is evaluated", (code) => `${code}\nthrow new Error("broken");`],
  ];

  it.each(later.flatMap(([kind, , , module]) => damages.map(([how, damage]) => [kind, how, module, damage] as const)))(
    "of %s that %s: 503 for what needs it, every time, and nothing else",
    async (kind, _how, module, damage) => {
      expect(modules.filter(({ name }) => module.test(name))).toHaveLength(1);
      const damaged = modules.flatMap((each) => {
        const code = module.test(each.name) ? damage(each.code) : each.code;
        return code === undefined ? [] : [{ ...each, code }];
      });
      const gateway = await start(damaged);
      try {
        for (let round = 0; round < 2; round++) {
          expect((await fetch(gateway.url + ORDER)).status).toBe(200);
          const [, path = "", init] = KINDS.find(([name]) => name === kind) ?? [];
          const response = await fetch(gateway.url + path, init);
          expect([response.status, response.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
          expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
          expect(await response.json()).toMatchObject({ type: "/-/problems/module-unavailable", status: 503 });
        }
        expect(gateway.lines.filter((line) => line.includes('"event":"module-unavailable"')).length).toBe(2);
        expect((await fetch(gateway.url + ORDER)).status).toBe(200);
      } finally {
        await gateway.stop();
      }
    },
  );

  it("of a key among many: one answer is a problem, and the others come whole", async () => {
    const eu = [{ url: origins[0]?.url }];
    const table = {
      regions: { eu: { origins: eu } },
      entities: {
        order: { path: "/orders/:id", ids: [{ layout: "iuid" }] },
        account: { path: "/accounts/:id", ids: [{ layout: "ulid" }] },
      },
      directory: { accounts: { key: { layout: "ulid" } } },
      routes: [{ when: { layout: "ulid" }, directory: "accounts" }],
      default: "eu",
    };
    const text = JSON.stringify(table);
    const worker = (await workerWith(text)).filter(({ name }) => !/^features-directory-edge-lookup\.js$/.test(name));
    const stateFolder = join(folder, `${states++}`);
    const gateway = await serveWorker(worker, { port: 0, tableText: text, stateFolder, vars: { REQUEST_LOG: "off" } });
    try {
      const ids = [ORDER.slice("/orders/".length), "01ARZ3NDEKTSV4RRFFQ69G5FAV"];
      const { results } = (await (await fetch(`${gateway.url}/any`, post(ids))).json()) as {
        readonly results: readonly { readonly status: number; readonly problem?: { readonly type: string } }[];
      };
      expect(results.map(({ status, problem }) => [status, problem?.type])).toEqual([
        [200, undefined],
        [503, "/-/problems/module-unavailable"],
      ]);
      expect(gateway.lines.join("\n")).toContain('"event":"module-unavailable"');
    } finally {
      await gateway.stop();
    }
  });

  it("of the published table, and of its check: no request is decided by the table of the build", async () => {
    const { regions } = JSON.parse(tableText) as { readonly regions: object };
    const order = { path: "/orders/:id", ids: [{ layout: "iuid" }] };
    // It needs none of the two.
    const other = { regions, entities: { order }, routes: [], default: Object.keys(regions)[0] };
    const worker = await workerWith(JSON.stringify(other));
    const needed = /^(?:edge-table-compile-text|features-create-table-compile)\.js$/;
    const damaged = worker.filter(({ name }) => !needed.test(name));
    expect(damaged).toHaveLength(worker.length - 2);
    const gateway = await start(damaged);
    try {
      for (let round = 0; round < 3; round++) {
        const response = await fetch(gateway.url + ORDER);
        expect([response.status, await response.json()]).toMatchObject([
          503,
          { type: "/-/problems/module-unavailable" },
        ]);
      }
      expect((await fetch(`${gateway.url}/-/health`)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });

  it("of an object: what needs the object is 503, with a line in the log, and all else is served", async () => {
    const gateway = await start(modules.filter(({ name }) => !/control-plane-object/.test(name)));
    try {
      const response = await fetch(`${gateway.url}/-/table`);
      expect(response.status).toBe(503);
      expect(gateway.lines.join("\n")).toContain('"event":"module-unavailable"');
      expect((await fetch(gateway.url + ORDER)).status).toBe(200);
      expect((await fetch(`${gateway.url}/-/health`)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });
});

describe("a part of tables that is missing", () => {
  const hasRoute = { regions: { eu: { origins: [{ url: "http://origin.test" }] } }, routes: [], default: "eu" };
  const withEntity = (layout: string, member: object = {}) => ({
    ...hasRoute,
    entities: { order: { path: "/orders/:id", ids: [{ layout }], ...member } },
  });
  it.each([
    ["a layout that few tables name", /^routing-layouts-declared\.js$/, withEntity("ulid")],
    [
      "a layout of a directory alone",
      /^routing-layouts-declared\.js$/,
      { ...withEntity("iuid"), directory: { codes: { key: { layout: "ulid" } } } },
    ],
    ["places of IDs", /^features-places-table-compile\.js$/, withEntity("uuid-v4", { idIn: [{ header: "x-id" }] })],
    ["CORS", /^features-cors-table-compile\.js$/, { ...withEntity("uuid-v4"), cors: { origins: ["*"] } }],
  ])("%s: 503 for a table that uses it, every time, and any other is served", async (_, part, using) => {
    const eu = [{ url: origins[0]?.url }];
    const served = async (table: object) => {
      const text = JSON.stringify({ ...table, regions: { eu: { origins: eu } } });
      const options = {
        port: 0,
        tableText: text,
        stateFolder: join(folder, `${states++}`),
        vars: { REQUEST_LOG: "off" },
      };
      const whole = await workerWith(text);
      // An empty state would need the control plane, which needs the part too.
      await (await serveWorker(whole, options)).stop();
      const worker = whole.filter(({ name }) => !part.test(name));
      return serveWorker(worker, options);
    };
    const gateway = await served(using);
    try {
      for (let round = 0; round < 2; round++) {
        const response = await fetch(gateway.url + ORDER);
        expect([response.status, ((await response.json()) as { readonly type: string }).type]).toEqual([
          503,
          "/-/problems/module-unavailable",
        ]);
      }
      expect(gateway.lines.join("\n")).toContain('"event":"module-unavailable"');
    } finally {
      await gateway.stop();
    }
    const other = await served(withEntity("iuid"));
    try {
      expect((await fetch(other.url + ORDER)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

describe("credentials whose module is missing", () => {
  const UNAVAILABLE = { type: "/-/problems/module-unavailable", status: 503 };
  const problemOf = ({ body }: { readonly body: string }): unknown => JSON.parse(body);

  it("of tokens of an issuer: 503 for those who send one, never another answer", async () => {
    const issuer = { issuer: "https://issuer.test", audience: "waybill", keys: "https://issuer.test/keys" };
    const gateway = await startClosed(/^edge-auth-jwt\.js$/, { MINT: JSON.stringify(issuer) });
    try {
      const { port } = gateway;
      const mint = (fields: readonly string[]) => rawRequest(port, "POST", "/mint", [...fields, "content-length: 0"]);
      expect((await mint([])).status).toBe(401);
      for (let round = 0; round < 2; round++) {
        expect(problemOf(await mint(["authorization: Bearer a.b.c"]))).toMatchObject(UNAVAILABLE);
      }
      expect((await fetch(gateway.url + ORDER)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });

  it("of sessions of the console: 503 for those who send one, and tokens are still read", async () => {
    const token = "t".repeat(43);
    const sha256 = createHash("sha256").update(token).digest("hex");
    const gateway = await startClosed(/^edge-console-sessions\.js$/, {
      CONSOLE_HOST: "gw.test",
      ADMIN_TOKENS: JSON.stringify([{ name: "ops", scope: "viewer", sha256 }]),
    });
    try {
      const ask = (field: string) =>
        rawRequest(gateway.port, "GET", "/-/table/status", [field, "sec-fetch-site: same-origin"]);
      expect(problemOf(await ask("cookie: __Host-waybill-session=ops.abc"))).toMatchObject(UNAVAILABLE);
      expect(problemOf(await ask("cookie: theme=dark"))).toMatchObject({ status: 401 });
      expect((await ask(`authorization: Bearer ${token}`)).status).toBe(200);
      expect((await fetch(gateway.url + ORDER)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  });
});
