import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DemoStack, startDemoStack } from "../stack.ts";

/** The OpenAPI document as others use it: clients made by generators, and a proxy that validates. Installed for this test alone. */

const run = promisify(execFile);

const PACKAGES = [
  "typescript@5.9.3",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "swagger-typescript-api@13.13.0",
  "openapi-typescript-codegen@0.31.0",
  "@stoplight/prism-cli@5.14.2",
];

const OPERATOR = "an-operator-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "ann", scope: "operator", sha256: createHash("sha256").update(OPERATOR).digest("hex") },
]);
const CREDENTIAL = { authorization: `Bearer ${OPERATOR}` };

const ID = "019a0000-0000-8005-8040-0000000000";

/** A generator's command, and a program that creates, writes, reads and is refused by its client: typed, in strict mode. */
const CLIENTS: Readonly<Record<string, readonly [command: readonly string[], program: string]>> = {
  "openapi-typescript": [
    ["openapi-typescript", "openapi.json", "-o", "schema.d.ts"],
    `import createClient from "openapi-fetch";
import type { paths } from "./schema.js";
const client = createClient<paths>({ baseUrl: URL_OF });
const header = { "x-country": "KZ" };
const created = await client.POST("/orders", { params: { header }, body: { total: 1 } });
const path = { id: ID_OF + "01" };
const put = await client.PUT("/orders/{id}", { params: { path }, body: { total: 2 } });
const got = await client.GET("/orders/{id}", { params: { path } });
const wrong = await client.GET("/orders/{id}", { params: { path: { id: "17" } } });
show(created.data, put.data, got.data, wrong.error);`,
  ],
  "hey-api": [
    ["openapi-ts", "-i", "openapi.json", "-o", "hey"],
    `import { createOrder, getOrder, putOrder } from "./hey/index.js";
import { client } from "./hey/client.gen.js";
client.setConfig({ baseUrl: URL_OF });
const created = await createOrder({ headers: { "x-country": "KZ" }, body: { total: 1 } });
const path = { id: ID_OF + "02" };
const put = await putOrder({ path, body: { total: 2 } });
const got = await getOrder({ path });
const wrong = await getOrder({ path: { id: "17" } });
show(created.data, put.data, got.data, wrong.error);`,
  ],
  "swagger-typescript-api": [
    ["swagger-typescript-api", "generate", "-p", "openapi.json", "-o", "sta", "-n", "api.ts"],
    `import { Api } from "./sta/api.js";
const { orders } = new Api({ baseUrl: URL_OF });
const created = await orders.createOrder({ total: 1 }, { headers: { "x-country": "KZ" } });
const id = ID_OF + "03";
const put = await orders.putOrder(id, { total: 2 });
const got = await orders.getOrder(id);
const wrong = await orders.getOrder("17").catch((refused: { error: unknown }) => refused);
show(created.data, put.data, got.data, wrong.error);`,
  ],
  "openapi-typescript-codegen": [
    ["openapi", "--input", "openapi.json", "--output", "otc"],
    `import { ApiError, EntitiesService, OpenAPI } from "./otc/index.js";
OpenAPI.BASE = URL_OF;
const created = await EntitiesService.createOrder("KZ", undefined, undefined, { total: 1 });
const id = ID_OF + "04";
const put = await EntitiesService.putOrder(id, undefined, { total: 2 });
const got = await EntitiesService.getOrder(id);
const wrong = await EntitiesService.getOrder("17").catch((refused: ApiError) => refused.body);
show(created, put, got, wrong);`,
  ],
};

const folder = mkdtempSync(join(tmpdir(), "waybill-clients-"));
const bin = (name: string) => join(folder, "node_modules/.bin", name);
let stack: DemoStack;
let isInstalled = false;

beforeAll(async () => {
  stack = await startDemoStack({ ADMIN_TOKENS });
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES];
  isInstalled = await run("npm", install, { cwd: folder, timeout: 300_000 }).then(
    () => true,
    () => false,
  );
  writeFileSync(
    join(folder, "openapi.json"),
    await (await fetch(`${stack.url}/-/openapi.json`, { headers: CREDENTIAL })).text(),
  );
}, 400_000);
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 400_000);

describe("a client that is made from the document compiles strictly and works", () => {
  it.for(Object.entries(CLIENTS))("%s", async ([name, [[command = "", ...args], program]], { skip }) => {
    if (!isInstalled) return skip(`${name} cannot be installed here`);
    await run(bin(command), args, { cwd: folder });
    const file = join(folder, `${name}.ts`);
    const head = `declare const URL_OF: string;\ndeclare const ID_OF: string;
const show = (...all: readonly unknown[]): void => console.log(JSON.stringify(all));\n`;
    writeFileSync(file, `${head}${program}\nexport {};\n`);
    const strict = ["--strict", "--noUncheckedIndexedAccess", "--noEmit", "--target", "es2022", "--module", "esnext"];
    const more = ["--moduleResolution", "bundler", "--lib", "es2023,dom,dom.iterable", "--skipLibCheck"];
    await run(bin("tsc"), [...strict, ...more, file], { cwd: folder }).catch(({ stdout }) => expect(stdout).toBe(""));
    const define = { URL_OF: JSON.stringify(stack.url), ID_OF: JSON.stringify(ID) };
    const outfile = join(folder, `${name}.mjs`);
    await build({
      entryPoints: [file],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      define,
      external: ["axios", "form-data"],
    });
    const { stdout } = await run(process.execPath, [outfile], { cwd: folder });
    const [created, put, got, wrong] = JSON.parse(stdout);
    expect([created, put, got]).toMatchObject([
      { entity: { total: 1 } },
      { entity: { total: 2 } },
      { entity: { total: 2 } },
    ]);
    expect(wrong).toMatchObject({ type: "/-/problems/malformed-id", status: 400 });
  });
});

/** Method, path, body and status of a session with the demo's origins. */
const SESSION: readonly (readonly [method: string, path: string, body: unknown, status: number])[] = [
  ["PUT", `/orders/${ID}10`, { total: 2 }, 201],
  ["PUT", `/orders/${ID}10`, { total: 3 }, 200],
  ["GET", `/orders/${ID}10`, undefined, 200],
  ["PATCH", `/orders/${ID}10`, { paid: true }, 200],
  ["GET", `/any/${ID}10`, undefined, 200],
  ["POST", "/orders", { total: 1 }, 201],
  ["GET", "/orders?limit=2", undefined, 200],
  ["DELETE", `/orders/${ID}10`, undefined, 200],
  ["GET", `/orders/${ID}10`, undefined, 404],
  ["GET", "/orders/17", undefined, 400],
  ["POST", "/mint", { entity: "order", country: "KZ" }, 201],
  ["POST", "/mint", { entity: "order", country: "XX" }, 422],
  ["POST", "/any", { ids: [`${ID}10`], locate: true }, 200],
  ["GET", `/-/ids/${ID}10`, undefined, 200],
  ["GET", "/-/table", undefined, 200],
  ["GET", "/-/table/status", undefined, 200],
  ["GET", "/-/health", undefined, 200],
  ["GET", "/-/ready", undefined, 200],
  ["GET", "/-/regions", undefined, 200],
  ["GET", "/-/problems/malformed-id", undefined, 200],
];

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

it("a validating proxy finds no fault in a session", async ({ skip }) => {
  if (!isInstalled) return skip("Prism cannot be installed here");
  const port = await freePort();
  const args = ["proxy", "openapi.json", stack.url, "--errors", "--host", "127.0.0.1", "--port", `${port}`];
  const prism = spawn(bin("prism"), args, { cwd: folder, stdio: "ignore" });
  try {
    const url = `http://127.0.0.1:${port}`;
    for (
      let left = 120;
      left > 0 &&
      !(await fetch(url).then(
        () => true,
        () => false,
      ));
      left--
    )
      await delay(500);
    for (const [method, path, body, status] of SESSION) {
      const headers = {
        ...CREDENTIAL,
        "x-country": "KZ",
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      };
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      expect([method, path, answer.status, text.includes("stoplight.io") ? text : ""]).toEqual([
        method,
        path,
        status,
        "",
      ]);
      expect(answer.headers.get("sl-violations")).toBe(null);
    }
  } finally {
    prism.kill();
  }
});
