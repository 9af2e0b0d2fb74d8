import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { type RunningWorkerd, startWorkerd } from "../../../src/host/workerd/workerd.ts";
import { findFreePorts } from "../demo/demo.ts";

/** A published table is in force when its answer comes: the isolates here read KV by themselves once a day. */

const ORDER = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const DAY = { REQUEST_LOG: "off", TABLE_REFRESH_SECONDS: "86400" };
const folder = mkdtempSync(join(tmpdir(), "waybill-in-force-"));
/** Answers at once, but a path that ends with `/slow` when the test says so. */
const held: ServerResponse[] = [];
const origin = createServer((request, response) => {
  if (request.url?.endsWith("/slow")) held.push(response);
  else response.end("ok");
});
let gateway: RunningGateway;
let latest = 1;

const tableTo = (region: string) => {
  const address = origin.address();
  const origins = [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }];
  const entities = { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } };
  const regions = { first: { origins }, second: { origins } };
  return { regions, entities, routes: [], default: region };
};

const regionNow = async (url = gateway.url): Promise<string | null> =>
  (await fetch(`${url}/orders/${ORDER}`)).headers.get("waybill-region");

/** A change of what is in force, and the table that the answering isolate then has. */
async function change(method: string, path: string, body: object, url = gateway.url) {
  const answer = await fetch(`${url}/-/table${path}`, {
    method,
    body: JSON.stringify(body),
    headers: { "if-match": `"${latest}"` },
  });
  const { revision = 0 } = (await answer.json()) as { readonly revision?: number };
  const [, inForce] = /^rev=(\d+);/.exec(answer.headers.get("waybill-table") ?? "") ?? [];
  latest = Math.max(latest, revision);
  return { status: answer.status, revision, inForce: Number(inForce) };
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + 30_000; !(await holds()); ) {
    if (Date.now() > endMs) throw new Error(`not within 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const pointerFile = join(folder, "kv", "table.current");

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const tableText = JSON.stringify(tableTo("first"));
  gateway = await startGateway({ port: 0, tableText, stateFolder: folder, openPages: true, vars: DAY });
  expect(await regionNow()).toBe("first");
});
afterAll(async () => {
  await gateway.stop();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the request after a change is decided by it", () => {
  const all = { table: {}, share: 100 };
  it.each([
    ["a publication", "PUT", "", () => tableTo("second"), { status: 201, inForce: 2 }, "second"],
    ["a rollback", "POST", "/rollback", () => ({ to: 1 }), { status: 201, inForce: 3 }, "first"],
    [
      "a canary",
      "POST",
      "/canary",
      () => ({ ...all, table: tableTo("second") }),
      { status: 201, inForce: 3 },
      "second",
    ],
    ["its end", "POST", "/abort", () => ({}), { status: 200, inForce: 3 }, "first"],
    ["another canary", "POST", "/canary", () => ({ ...all, table: tableTo("second") }), { inForce: 3 }, "second"],
    ["its promotion", "POST", "/promote", () => ({}), { status: 201, inForce: 6 }, "second"],
  ])("%s", async (_, method, path, body, answer, region) => {
    if (path === "/rollback" || path === "/canary") latest = (await current()).revision;
    expect(await change(method, path, body())).toMatchObject(answer);
    expect(await regionNow()).toBe(region);
  });
});

const current = async (): Promise<{ readonly revision: number }> => {
  const { controlPlane } = (await (await fetch(`${gateway.url}/-/table/status`)).json()) as {
    readonly controlPlane: { readonly revision: number };
  };
  return controlPlane;
};

it("a request that runs keeps its table", async () => {
  const running = fetch(`${gateway.url}/orders/${ORDER}/slow`);
  await eventually("a request that runs", async () => held.length > 0);
  expect(await change("PUT", "", tableTo("first"))).toMatchObject({ status: 201, inForce: 7 });
  expect(await regionNow()).toBe("first");
  held.pop()?.end("late");
  expect((await running).headers.get("waybill-region")).toBe("second");
});

it("a change that KV takes late is answered before, says so, and comes into force with KV's next write", async () => {
  const aside = join(folder, "aside");
  renameSync(pointerFile, aside);
  mkdirSync(pointerFile);
  expect(await change("PUT", "", tableTo("second"))).toMatchObject({ status: 201, revision: 8, inForce: 7 });
  expect(await regionNow()).toBe("first");
  rmdirSync(pointerFile);
  renameSync(aside, pointerFile);
  await eventually("revision 8", async () => (await regionNow()) === "second");
});

it("an isolate that is not the object's takes it by its own look at KV, and changes through it are true", async () => {
  await gateway.stop();
  const configPath = join(folder, "config.capnp");
  const port = await findFreePorts();
  writeFileSync(configPath, withSecondIsolate(readFileSync(configPath, "utf8"), port));
  const two: RunningWorkerd = await startWorkerd({ configPath, openPages: true });
  const second = `http://127.0.0.1:${port}`;
  try {
    expect([await regionNow(two.url), await regionNow(second)]).toEqual(["second", "second"]);
    expect(await change("PUT", "", tableTo("first"), second)).toMatchObject({ status: 201, revision: 9, inForce: 8 });
    await eventually("revision 9 at the object's isolate", async () => (await regionNow(two.url)) === "first");
    expect(await regionNow(second)).toBe("second");
    await eventually("revision 9 at the other", async () => (await regionNow(second)) === "first");
  } finally {
    await two.stop();
  }
});

/** Another service of the same process with the same Worker, whose objects are the first one's. It reads KV once in 5 s. */
function withSecondIsolate(config: string, port: number): string {
  const [before = "", worker = ""] = config.split("const waybill :Workerd.Worker = ");
  const other = worker
    .replaceAll(
      /durableObjectNamespace = ("\w+")/g,
      'durableObjectNamespace = (className = $1, serviceName = "waybill")',
    )
    .replace(/ {2}durableObjectNamespaces = \[[^\]]*\],\n {2}durableObjectStorage = [^\n]*\n/, "")
    .replace('"86400"', '"5"');
  return `${before
    .replace("  services = [", '  services = [\n    (name = "second", worker = .second),')
    .replace(
      "  sockets = [",
      `  sockets = [(name = "other", address = "127.0.0.1:${port}", http = (), service = "second"), `,
    )}const waybill :Workerd.Worker = ${worker}\nconst second :Workerd.Worker = ${other}`;
}
