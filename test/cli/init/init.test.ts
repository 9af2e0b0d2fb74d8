import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { create } from "../../../src/cli/create.ts";
import { everyLayout, type Layout } from "../../../src/ids/index.ts";
import { wordMinter } from "../../../src/ids/mint/create-minter.ts";
import { objectsOf, type RuntimeOptions, waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const NOW_MS = Date.parse("2026-06-01T00:00:00Z");

/** IDs of layouts that the gateway does not mint. */
const OTHERS: Readonly<Record<string, string>> = {
  uuid: "8e0b5a1c-6c3a-0b6e-9d0f-0a1b2c3d4e5f",
  "uuid-v2": "000003e8-cbb9-21ea-b201-00045a86c8a1",
  "uuid-v3": "5df41881-3aed-3515-88a7-2f4a814cf09e",
  "uuid-v5": "2ed6657d-e927-568b-95e1-2665a8aea6a2",
  "uuid-v8": "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
  "uuid-nil": "00000000-0000-0000-0000-000000000000",
  "uuid-max": "ffffffff-ffff-ffff-ffff-ffffffffffff",
};

function sampleOf(layout: Layout): string {
  const other = OTHERS[layout.name];
  if (other !== undefined) return other;
  const fields = layout.fields.filter(({ role }) => role === "key" || role === "node");
  const entropy = { word: () => 0x1234_5678 };
  const minter = wordMinter(layout, Object.fromEntries(fields.map(({ name }) => [name, 3])), entropy);
  const words = minter.ok ? minter.value(NOW_MS) : minter;
  if (!words.ok) throw new Error(`${layout.name}: ${words.error.reason}`);
  return layout.format(words.value);
}

const REGIONS = ["eu=https://eu.example.com", "us=https://us.example.com/base", "ap=http://127.0.0.1:8790"];

const flags = (name: string, values: readonly string[]): readonly string[] => values.flatMap((value) => [name, value]);

/** Writes a project and tests it as its own `npm test` does. */
async function written(args: readonly string[], options: RuntimeOptions = {}) {
  const files = options.files ?? MemoryFiles.of({});
  const made = await waybill(["init", "p", ...args], { ...options, files });
  const inside = { ...options, files: files.from("/home/ada/project/p") };
  if (made.code !== 0) return { made, files, check: undefined, test: undefined };
  const check = await waybill(["table", "check", "routing-table.json"], inside);
  const test = await waybill(["table", "test"], inside);
  return { made, files, check, test };
}

describe("waybill init", () => {
  const layouts = everyLayout.flatMap((layout, index) =>
    [1, 2, 3].map((count) => ({
      layout: layout.name,
      sample: sampleOf(layout),
      count,
      platform: (["both", "cloudflare", "own-servers"] as const)[(index + count) % 3] as string,
    })),
  );

  it.each(layouts)("of $layout in $count regions ($platform): its table loads and its examples pass", async (row) => {
    const regions = REGIONS.slice(0, row.count);
    const { made, check, test } = await written([
      "--sample",
      row.sample,
      "--layout",
      row.layout,
      "--platform",
      row.platform,
      ...flags("--region", regions),
    ]);
    expect(made).toMatchObject({ stderr: "", code: 0 });
    expect(check).toMatchObject({ stderr: "", code: 0 });
    expect(test).toMatchObject({ stderr: "", code: 0 });
    expect(test?.stdout).toContain("all as expected");
  });

  it.each([1, 2, 3])("of new IDs in %i regions: each region has a share", async (count) => {
    const names = ["eu", "us", "ap"].slice(0, count);
    const { made, files, test } = await written(flags("--region", REGIONS.slice(0, count)));
    expect(made).toMatchObject({ stderr: "", code: 0 });
    expect(test?.code).toBe(0);
    for (const name of names) expect(test?.stdout).toContain(`→ ${name} `);
    const minted = await waybill(["mint", "--entity", "order", "--shard-key", "4294967295", "--json"], {
      files: files.from("/home/ada/project/p"),
    });
    expect(minted.stdout).toContain(names.at(-1));
  });

  it("of new IDs: they are UUIDs of RFC 9562, and old UUIDs of a directory take the same path", async () => {
    const { files } = await written([]);
    const examples: readonly { path: string }[] = files.json("p/examples.json").examples;
    const ids = examples.map(({ path }) => path.replace("/orders/", "")).filter((id) => id !== "not-an-id");
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const table = files.json("p/routing-table.json");
    table.directory = { "old-orders": { key: { layout: "uuid-v4" } } };
    table.entities.order.ids.push({ layout: "uuid-v4" });
    table.routes.push({ when: { layout: "uuid-v4" }, directory: "old-orders" });
    const project = MemoryFiles.of({ "routing-table.json": JSON.stringify(table) });
    const check = await waybill(["table", "check", "routing-table.json", "--strict"], { files: project });
    expect(check).toMatchObject({ stderr: "", code: 0 });
    expect(check.stdout).not.toMatch(/ambiguous|mistaken/);
    for (const id of [...ids, "8c4e8d0b-6f2e-4d0a-9f3f-2b1a7c9e5d11"]) {
      const { stdout } = await waybill(["explain", id, "--json"], { files: project });
      const [{ candidates }] = objectsOf(stdout) as [{ candidates: readonly { layout: string; excluded: boolean }[] }];
      const read = candidates.filter(({ excluded }) => !excluded).map(({ layout }) => layout);
      expect(read).toEqual([ids.includes(id) ? "sharded-uuid" : "uuid-v4"]);
    }
  });

  it.each([
    ["cloudflare", ["wrangler.toml", "tsconfig.json", "src/worker.ts"], ["Dockerfile", "deploy/waybill.service"]],
    ["own-servers", ["Dockerfile", "deploy/waybill.service"], ["wrangler.toml", "src/worker.ts"]],
    ["both", ["Dockerfile", "wrangler.toml", "monitoring/alerts.yml"], []],
  ])("for %s: its files, whole and with nothing of the template in them", async (platform, has, lacks) => {
    const { made, files } = await written(["--platform", platform, "--json"]);
    const [report] = objectsOf(made.stdout) as [{ files: readonly string[]; next: readonly string[] }];
    expect(report.files).toEqual(expect.arrayContaining([".gitignore", "README.md", "test/table.test.js", ...has]));
    for (const file of lacks) expect(report.files).not.toContain(file);
    for (const file of report.files) {
      expect(files.text(`p/${file}`), file).not.toMatch(/<<[a-z]+>>|^ *(?:#|<!--) (?:if [a-z-]+|end)(?: -->)?$/m);
      expect(files.text(`p/${file}`), file).toMatch(/[^\n]\n$/);
      if (/\.ya?ml$/.test(file)) expect(() => parse(files.text(`p/${file}`)), file).not.toThrow();
    }
    const onCloudflare = platform !== "own-servers";
    const manifest = files.json("p/package.json");
    expect(manifest).toMatchObject({
      name: "p",
      private: true,
      scripts: {
        prestart: "node installed.js",
        start: "waybill start",
        pretest: "node installed.js",
        test: "node --test",
      },
    });
    expect([manifest.scripts.deploy, manifest.devDependencies?.wrangler !== undefined]).toEqual(
      onCloudflare ? ["waybill deploy", true] : [undefined, false],
    );
    expect(files.text("p/.github/workflows/check.yml").includes("deploy -- --dry-run")).toBe(onCloudflare);
    expect(files.text("p/README.md").includes("docker compose")).toBe(platform !== "cloudflare");
    expect(report.next).toEqual(["cd p", "npm install", "npm test", "npm start"]);
  });

  it.each([
    ["https://api.example.com/v1/orders/SAMPLE?full=1", { order: "/v1/orders/:id" }],
    ["/boxes/SAMPLE/lines", { boxes: "/boxes/:id" }],
    ["/any/SAMPLE", { order: "/orders/:id" }],
    ["SAMPLE", { order: "/orders/:id" }],
  ])("a path around the sample is the entity's: %s", async (sample, paths) => {
    const { files } = await written(["--sample", sample.replace("SAMPLE", "018f0c1a-7a30-7005-8040-8f3b2a1c9d77")]);
    const { entities } = files.json("p/routing-table.json");
    for (const [name, path] of Object.entries(paths)) expect(entities[name].path).toBe(path);
  });

  it("takes a text of a library, with its layout", async () => {
    const sample = "/users/user_01h455vb4pex5vsknk084sn02q";
    const { files, test } = await written(["--sample", sample, "--sample-region", "us"]);
    expect(test?.code).toBe(0);
    const { layouts, entities, directory } = files.json("p/routing-table.json");
    expect(layouts["user-id"]).toMatchObject({ like: "uuid-v7" });
    expect(entities.user.ids).toEqual([{ layout: "user-id" }]);
    expect(directory["user-regions"].unknown).toBe("us");
  });

  it.each([
    [["--sample", "1541815603606036480"], 64, "can be read as snowflake, discord-snowflake, sharding-id; name one"],
    [["--sample", "acme-corp"], 1, '"acme-corp" is no ID of a built-in layout.\n  a table can declare a layout for it'],
    [["--sample", "1541815603606036480", "--layout", "ulid"], 64, "is no ID of ulid; it is one of snowflake"],
    [["--sample", "1541815603606036480", "--layout", "snowflak"], 64, "did you mean snowflake"],
    [["--layout", "ulid"], 64, "--layout and --sample-region are about a sample"],
    [["--sample", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--sample-region", "mars"], 64, 'There is no region "mars": eu, us.'],
    [["--region", "eu"], 64, "Write a region as name=url"],
    [["--region", "eu=ftp://x"], 64, "is neither http nor https"],
    [["--region", "eu=http://a", "--region", "eu=http://b"], 64, "Region eu is given twice."],
    [["--region", "eu=http://169.254.169.254"], 64, "is a link-local address"],
    [["--platform", "moon"], 64, "Allowed choices are cloudflare, own-servers, both"],
    [["--name", "Übung"], 64, "is no name for the package"],
    [["--name", "waybill"], 64, "not the name of a dependency"],
    [["--name", "a-"], 64, "is no name for the package"],
    [["--path", "/any/:id"], 64, "/entities/order/path"],
    [["--entity", "two words"], 64, "/entities/two words"],
  ])("refuses %j", async (args, code, message) => {
    const { made, files } = await written(args);
    expect(made).toMatchObject({ stdout: "", code });
    expect(made.stderr).toContain(message);
    expect(files.exists("p")).toBe(false);
  });
});

describe("the folder", () => {
  it.each([
    { "p/package.json": "{}" },
    { "p/.git/HEAD": "", "p/src/a.ts": "" },
    { "p/README.md": "", "p/notes.txt": "" },
  ])("is refused with files: %j", async (before) => {
    const { made, files } = await written([], { files: MemoryFiles.of(before) });
    const [name = ""] = Object.keys(before).toReversed()[0]?.split("/").slice(1) ?? [];
    expect(made).toMatchObject({ stdout: "", stderr: `error: p has files: ${name}; name a new folder\n`, code: 1 });
    expect(files.exists("p/routing-table.json")).toBe(false);
  });

  it("may be a fresh repository, whose files keep their lines", async () => {
    const before = {
      "p/.git/HEAD": "x",
      "p/LICENSE": "MIT",
      "p/README.md": "# Orders",
      "p/.gitignore": "node_modules/\n*.log",
    };
    const { made, files } = await written([], { files: MemoryFiles.of(before) });
    expect(made.code).toBe(0);
    expect(made.stdout).toContain("  .gitignore  (lines added to yours)\n");
    expect(made.stdout).toContain("  README.md  (lines added to yours)\n");
    expect(made.stdout).toMatch(/^ {2}package\.json$/m);
    const json = await written(["--json"], { files: MemoryFiles.of(before) });
    expect(objectsOf(json.made.stdout)).toMatchObject([{ extended: [".gitignore", "README.md"] }]);
    expect(files.text("p/LICENSE")).toBe("MIT");
    expect(files.text("p/README.md")).toMatch(/^# Orders\n\n# p\n/);
    expect(files.text("p/.gitignore")).toMatch(/^node_modules\/\n\*\.log\n\.waybill\/\n/);
  });

  it("has scripts that ask for npm install where that is missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-installed-"));
    const { files } = await written([]);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "installed.js"), files.text("p/installed.js"));
    const look = () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ["installed.js"], {
        cwd: folder,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    };
    const stderr = "Nothing is installed here yet. Run this first: npm install\n";
    expect(look()).toEqual({ status: 1, stdout: "", stderr });
    mkdirSync(join(folder, "node_modules/waybill"), { recursive: true });
    writeFileSync(join(folder, "node_modules/waybill/package.json"), "{}");
    expect(look()).toEqual({ status: 0, stdout: "", stderr: "" });
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["my app", "my-app", "cd 'my app'"],
    ["waybill", "waybill-gateway", "cd waybill"],
    ["日本", "gateway", "cd '日本'"],
    ["-dash", "dash", "cd ./-dash"],
    ["-d ash", "d-ash", "cd './-d ash'"],
    [`${"a".repeat(39)}-b`, "a".repeat(39), `cd ${"a".repeat(39)}-b`],
    ["a/Ünï/Gate_Way", "gate-way", "cd 'a/Ünï/Gate_Way'"],
  ])("%s names the package", async (folder, name, cd) => {
    const files = MemoryFiles.of({});
    const { stdout } = await waybill(["init", "--json", "--", folder], { files });
    expect(objectsOf(stdout)).toMatchObject([{ name, next: [cd, "npm install", "npm test", "npm start"] }]);
    expect(files.json(`${folder}/package.json`).name).toBe(name);
  });

  it("keeps each byte of a file that is no UTF-8", async () => {
    const files = MemoryFiles.of({});
    files.write("p/README.md", new Uint8Array([0xef, 0xbb, 0xbf, 0x4f, 0xe9, 0x0d, 0x0a]));
    await written([], { files });
    const after = files.read("p/README.md");
    const text = after.ok ? Buffer.from(after.value).toString("latin1") : "";
    expect(text.slice(0, 14)).toBe("\u00ef\u00bb\u00bfO\u00e9\r\n\n# p\n\nA");
  });

  it("is a file: refused", async () => {
    const { made } = await written([], { files: MemoryFiles.of({ p: "x" }) });
    expect(made).toMatchObject({ stderr: "error: p cannot be used: not a directory\n", code: 1 });
  });

  it("the next commands are those of the package manager that runs it", async () => {
    for (const [agent, install] of [
      ["pnpm/10.1.0 npm/? node/v24", "pnpm install"],
      ["yarn/4.0.0", "yarn install"],
      ["bun/1.2", "bun install"],
    ] as const) {
      const { made } = await written([], { env: { npm_config_user_agent: agent } });
      expect(made.stdout).toContain(install);
    }
  });
});

describe("questions at a terminal", () => {
  const asked = async (answers: Readonly<Record<string, string | undefined>>, args: readonly string[] = []) => {
    const questions: string[] = [];
    const files = MemoryFiles.of({});
    const answer = (question: string): string | undefined => {
      questions.push(question);
      const [key] = Object.keys(answers).filter((each) => question.startsWith(each));
      return key === undefined ? "" : answers[key];
    };
    const made = await waybill(["init", ...args], { files, answer });
    return { made, files, questions };
  };

  it("are four, with defaults", async () => {
    const { made, files, questions } = await asked({});
    expect(made.code).toBe(0);
    expect(questions).toEqual([
      "Folder [my-gateway]: ",
      "Where does it run: cloudflare, own-servers, both [both]: ",
      "Regions as name=url, with spaces between them [eu=http://127.0.0.1:8788 us=http://127.0.0.1:8789]: ",
      "An ID that you have, or a URL with one [none]: ",
    ]);
    expect(files.exists("my-gateway/wrangler.toml")).toBe(true);
  });

  it.each<[node: string, platform: string, note: string]>([
    ["22.12.0", "both", ""],
    ["24.0.0", "cloudflare", ""],
    ["20.20.2", "own-servers", ""],
    ["20.20.2", "both", "; all else runs on this one, and --platform own-servers leaves Cloudflare out"],
    ["22.11.0", "both", "; all else runs on this one, and --platform own-servers leaves Cloudflare out"],
    ["20.18.0", "cloudflare", " (EBADENGINE)\n"],
  ])("say on Node %s for %s what needs a newer one", async (nodeVersion, platform, note) => {
    const made = await waybill(["init", "p", "--yes", "--platform", platform], { nodeVersion });
    const why = `note: deploying to Cloudflare needs Node 22.12, and this is ${nodeVersion}; npm warns`;
    expect([made.code, made.stderr.startsWith(why), made.stderr.includes(note)]).toEqual([0, note !== "", true]);
    const questions: string[] = [];
    const answer = (question: string): string => {
      questions.push(question);
      return "";
    };
    await waybill(["init", "p"], { nodeVersion, answer });
    expect(questions[0]?.includes(`(deploying to Cloudflare needs Node 22.12, and this is ${nodeVersion})`)).toBe(
      nodeVersion < "22.12",
    );
  });

  it("a sample that is ambiguous is asked about, and one that is none is left out", async () => {
    const { made, files, questions } = await asked({
      "An ID": "1541815603606036480",
      '"1541815603606036480" can be read as': "sharding-id",
      "Which region has 1541815603606036480": "us",
    });
    expect(made.code).toBe(0);
    expect(questions).toHaveLength(6);
    expect(questions[4]).toMatch(/Which is it: $/);
    expect(files.json("my-gateway/routing-table.json").routes).toEqual([
      { when: { entity: "order", fields: { shard: expect.any(String) } }, region: "us" },
    ]);
    const none = await asked({ "An ID": "acme" });
    expect(none.made.stderr).toContain('"acme" is no ID of a built-in layout. The table begins without it.\n');
    expect(none.made.code).toBe(0);
  });

  it("a sample of the command line that is none ends it before they are asked", async () => {
    const { made, questions } = await asked({}, ["p", "--sample", "acme"]);
    expect([made.code, questions]).toEqual([1, []]);
  });

  it("a wrong answer is asked for again, a flag or --yes is not", async () => {
    const answers = ["moon", "own-servers"];
    const files = MemoryFiles.of({});
    const answer = (question: string) => (question.startsWith("Where") ? answers.shift() : "");
    const made = await waybill(["init", "p"], { files, answer });
    expect(made.stderr).toContain('"moon" is none of cloudflare, own-servers, both.\n');
    expect(files.exists("p/wrangler.toml")).toBe(false);
    expect(
      (
        await asked({}, [
          "p",
          "--platform",
          "both",
          "--region",
          "eu=http://a.test",
          "--sample",
          "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ])
      ).questions,
    ).toEqual([]);
    expect((await asked({}, ["--yes"])).questions).toEqual([]);
    expect((await asked({}, ["--json"])).questions).toEqual([]);
  });

  it("no answer writes nothing", async () => {
    const { made, files } = await asked({ "An ID": undefined });
    expect(made).toMatchObject({ stdout: "", code: 1 });
    expect(made.stderr).toContain("error: nothing was written\n");
    expect(files.exists("my-gateway")).toBe(false);
  });
});

describe("npm create waybill", () => {
  it("is the same, under its own name", async () => {
    const files = MemoryFiles.of({});
    expect((await waybill(["p", "--yes"], { files, program: create })).code).toBe(0);
    expect(files.exists("p/routing-table.json")).toBe(true);
    const help = await waybill(["--help"], { program: create });
    expect(help.stdout).toMatch(/^Usage: create-waybill \[options\] \[folder\]\n/);
    expect(await waybill(["--version"], { program: create })).toMatchObject({
      stdout: expect.stringMatching(/^\d/),
      code: 0,
    });
    expect((await waybill(["a", "b"], { program: create })).code).toBe(64);
  });

  it("names the options that npm took for itself", async () => {
    const env = {
      npm_config_sample: "true",
      npm_config_sample_region: "true",
      npm_config_yes: "true",
      npm_config_registry: "x",
    };
    const hint = "npm took --sample, --sample-region for itself; write -- before the options, and npm passes them on\n";
    const { code, stderr } = await waybill(["p", "ID", "eu"], { program: create, env });
    expect([code, stderr]).toEqual([64, expect.stringMatching(/^error: too many arguments/)]);
    expect(stderr.endsWith(hint)).toBe(true);
    expect((await waybill(["p", "ID", "eu"], { program: create })).stderr).not.toContain("npm took");
  });
});

describe("the template", () => {
  const template = (path: string) =>
    readFileSync(new URL(`../../../src/package/templates/${path}`, import.meta.url), "utf8");
  const own = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");

  it("has every binding, class and setting of the checkout's wrangler.toml", () => {
    const made = template("cloudflare/wrangler.toml");
    const pairs = (text: string) =>
      [...text.matchAll(/^name = "(\w+)"\nclass_name = "(\w+)"$/gm)].map(([pair]) => pair);
    expect(pairs(made)).toEqual(pairs(own));
    expect(pairs(made).length).toBeGreaterThan(4);
    const classes = [...own.matchAll(/^class_name = "(\w+)"$/gm)].map(([, name]) => name);
    const exported = [...made.matchAll(/^(\w+) = \{ type = "durable-object", storage = "sqlite" \}$/gm)].map(
      ([, name]) => name,
    );
    expect(exported).toEqual(classes);
    const vars = (text: string) => /^\[vars\]\n((?:.+\n)+)/m.exec(text)?.[1];
    // A checkout is no environment.
    expect(vars(made)?.replace(/^ENVIRONMENT = .*\n/m, "")).toBe(vars(own));
    const lines =
      /^(?:compatibility_(?:date|flags)|crons|binding|run_worker_first|html_handling|not_found_handling) = .*$/gm;
    expect(made.match(lines)).toEqual(own.match(lines));
  });
});
