import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Packed, packAll } from "../packed.ts";
import { openRegistry, type Registry } from "../registry.ts";
import { freePorts, installedIn, npmStart, type Started, type Step, succeed } from "./project.ts";
import { installToolchain, TOOLCHAINS, type Toolchain } from "./toolchain.ts";

/**
 * A team's way with the packages, from an empty folder through an upgrade and back, with each Node and npm that is supported. It prints the
 * times and sizes of the steps. Some five minutes on a machine that does nothing else; it fetches workerd, wrangler, three Nodes and four npms from
 * the registry (500 MB), into a cache of its own.
 */

const NEXT = "1.0.1";
const START_PROCESSOR_SECONDS_MAX = 3;
/** How npm ends after Ctrl-C: version 10 by the signal, as a shell's program does. */
const ENDS = [0, "SIGINT"];
const SELF_HOSTED = { packages: 12, megabytes: 180 };

let folder: string;
let registry: Registry;
let first: readonly Packed[];
let next: readonly Packed[];
const steps: (Step & { readonly toolchain: string })[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "waybill-flow-"));
  registry = await openRegistry();
  first = packAll(join(folder, "first"));
  next = packAll(join(folder, "next"), "--version", NEXT);
}, 600_000);

afterAll(async () => {
  console.log(tableOf(steps));
  await registry[Symbol.asyncDispose]();
  // Gigabytes in some hundred thousand files.
  rmSync(folder, { recursive: true, force: true });
}, 300_000);

const tableOf = (rows: typeof steps): string =>
  [
    ["toolchain", "step", "seconds", "processor", "MB", "packages"],
    ...rows.map(({ toolchain, name, seconds, processorSeconds, installed }) => [
      toolchain,
      name,
      seconds.toFixed(1),
      processorSeconds?.toFixed(1) ?? "",
      installed?.megabytes.toFixed(0) ?? "",
      `${installed?.packages ?? ""}`,
    ]),
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

/** A project in a folder, and what its user does there. */
function userOf(toolchain: Toolchain, place: string) {
  const cache = join(folder, "cache");
  const env = {
    ...installToolchain(toolchain, join(place, "toolchain")),
    npm_config_registry: registry.url,
    npm_config_cache: cache,
  };
  // Else `npm create` of the second one finds the first one's program.
  rmSync(join(cache, "_npx"), { recursive: true, force: true });
  const project = join(place, "gateway");
  const note = (step: Step) => steps.push({ ...step, toolchain: toolchain.name });
  const measured = async (cwd: string, ...words: string[]): Promise<string> => {
    const since = performance.now();
    const printed = await succeed(env, cwd, ...words);
    const seconds = (performance.now() - since) / 1000;
    const changes = /^(install|update|prune)$/.test(words[1] ?? "");
    note({ name: words.slice(0, 3).join(" "), seconds, ...(changes && { installed: installedIn(project) }) });
    return printed;
  };
  return {
    project,
    note,
    at: (path: string) => join(project, path),
    env,
    create: (...flags: string[]) => measured(place, "npm", "create", "waybill", "--yes", "--", "gateway", ...flags),
    /** Runs in the project, and is a row of the table. */
    step: (...words: string[]) => measured(project, ...words),
    start: async (path: string) => {
      const started = await npmStart(env, project, path);
      note(started.step);
      return started;
    },
    /** The command against a gateway that runs. */
    waybill: ({ url }: Started, ...words: string[]) =>
      succeed({ ...env, WAYBILL_GATEWAY: url }, project, "npx", "waybill", ...words),
  };
}

type User = ReturnType<typeof userOf>;

async function mint({ url }: Started, body: object): Promise<{ ids: string[]; region: string; shortKeys?: string[] }> {
  const response = await fetch(`${url}/mint`, { method: "POST", body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return response.json() as never;
}

const regionOf = async ({ url }: Started, id: string): Promise<readonly [number, string | null]> => {
  const response = await fetch(`${url}/any/${id}`, { headers: { "id-layout": "luuid" } });
  await response.arrayBuffer();
  return [response.status, response.headers.get("waybill-region")];
};

/** An upgrade must keep it: revisions with their digests, the table in force, and which keys are taken. */
async function stateOf(user: User, started: Started) {
  const history = await user.waybill(started, "table", "history", "--json");
  const response = await fetch(`${started.url}/-/table`);
  const { shortKeys = [] } = await mint(started, { entity: "person", count: 2 });
  const kept = { history, table: await response.text(), digest: response.headers.get("waybill-digest") };
  return { kept, keys: shortKeys.map((key) => Number.parseInt(key, 16)) };
}

/** The table of the project with an entity whose keys are counted, and its route. */
function withPersons(text: string): string {
  const table = JSON.parse(text);
  table.entities.person = { path: "/people/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] };
  table.routes.push({ when: { entity: "person" }, region: "us" });
  return `${JSON.stringify(table, null, 2)}\n`;
}

const firstVersion = (): string => first[0]?.manifest.version ?? "";

const versionOf = (user: User): string =>
  JSON.parse(readFileSync(user.at("node_modules/waybill/package.json"), "utf8")).version;

describe.each(TOOLCHAINS)("$name", (toolchain) => {
  let user: User;
  let path: string;
  let person: string;
  let before: Awaited<ReturnType<typeof stateOf>>;

  beforeAll(async () => {
    const place = join(folder, toolchain.name.replaceAll(/\W+/g, "-"));
    mkdirSync(place);
    registry.hold(first);
    user = userOf(toolchain, place);
  }, 600_000);

  it("creates, installs and tests", async () => {
    const [eu, us] = await freePorts(2);
    const printed = await user.create(
      ...["eu", "us"].flatMap((name, at) => ["--region", `${name}=http://127.0.0.1:${[eu, us][at]}`]),
    );
    path = /^then: curl -i 'http:\/\/[^/]*(\/\S+)'/m.exec(printed)?.[1] ?? "";
    await user.step("npm", "install");
    expect(versionOf(user)).toBe(firstVersion());
    expect(await user.step("npm", "test")).toMatch(/^(?:ℹ|#) pass 3$/m);
  });

  it("starts, mints, finds and publishes", async () => {
    const started = await user.start(path);
    const { step } = started;
    expect(step.processorSeconds ?? 0).toBeLessThan(START_PROCESSOR_SECONDS_MAX);
    const order = await mint(started, { entity: "order", shardKey: 7 });
    expect(order.region).toBe("eu");
    writeFileSync(user.at("edited.json"), withPersons(readFileSync(user.at("routing-table.json"), "utf8")));
    const published = await user.waybill(started, "table", "publish", "edited.json", "--note", "people to us", "--yes");
    expect(published).toMatch(/in force here after/);
    person = (await mint(started, { entity: "person" })).ids[0] ?? "";
    expect(await regionOf(started, person)).toEqual([200, "us"]);
    // A start puts the project's file into force.
    writeFileSync(user.at("routing-table.json"), readFileSync(user.at("edited.json")));
    before = await stateOf(user, started);
    expect(before.kept.history).toContain("people to us");
    expect(ENDS).toContain(await started.stop());
  });

  it.each(["up", "back"])("keeps its state on the way %s", async (way) => {
    registry.hold([...first, ...next]);
    if (way === "up") await user.step("npm", "update");
    else await user.step("npm", "install", `waybill@${firstVersion()}`);
    expect(versionOf(user)).toBe(way === "up" ? NEXT : firstVersion());
    expect(await user.step("npm", "test")).toMatch(/^(?:ℹ|#) pass 3$/m);
    if (way === "up") await user.step("npx", "waybill", "upgrade");
    const started = await user.start(path);
    expect(await regionOf(started, person)).toEqual([200, "us"]);
    const after = await stateOf(user, started);
    expect(after.kept).toEqual(before.kept);
    expect(Math.min(...after.keys)).toBeGreaterThan(Math.max(...before.keys));
    before = after;
    expect(ENDS).toContain(await started.stop());
  });

  it.runIf(toolchain.isStrict)("is refused where the project does not judge install scripts", async () => {
    const place = user.at("unjudged");
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), `{ "dependencies": { "waybill": "${firstVersion()}" } }\n`);
    await expect(succeed(user.env, place, "npm", "install")).rejects.toThrow("workerd");
    rmSync(place, { recursive: true });
  });

  it("is small without what Cloudflare needs", async () => {
    await user.step("npm", "prune", "--omit=dev");
    const { packages, megabytes } = installedIn(user.project);
    expect(packages).toBeLessThanOrEqual(SELF_HOSTED.packages);
    expect(megabytes).toBeLessThanOrEqual(SELF_HOSTED.megabytes);
    expect(await user.step("npx", "waybill", "--version")).toBe(`${firstVersion()}\n`);
  });
});
