import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RampStep, type RouteTarget, rampRoute, rewriteRoute } from "../../../src/cli/commands/canary.ts";
import { examplesOf, projectText, shownBy } from "../console-examples.ts";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const own = projectText("routing-table.json");

/** A copy of a table, for one test to edit. */
const tableFile = (text = own): MemoryFiles => MemoryFiles.of({ "table.json": text });

const canary = (files: MemoryFiles, ...args: readonly string[]) =>
  waybill(["canary", ...args, "--table", "table.json"], { files });

/** The lines in which two texts differ, after the lines that they have in common at both ends. */
const changedLines = (before: string, after: string): readonly (readonly string[])[] => {
  const left = before.split("\n");
  const right = after.split("\n");
  while (left.length > 0 && left[0] === right[0]) {
    left.shift();
    right.shift();
  }
  while (left.length > 0 && left.at(-1) === right.at(-1)) {
    left.pop();
    right.pop();
  }
  return [left, right];
};

describe("waybill canary", () => {
  it("ramps a region step by step, and touches nothing else of the file", async () => {
    const files = tableFile();
    const begun = await canary(files, "/routes/1", "--region", "us", "--percent", "1");
    expect(begun).toEqual({
      stdout: "/routes/1  ap → ap (1 % us)  1 % of its IDs change region\n",
      stderr: `table.json: changed; publish the table to apply it\n`,
      code: 0,
    });
    const [[was = ""] = [], [is = ""] = [], ...others] = changedLines(own, files.text("table.json"));
    expect(others).toEqual([]);
    expect(is).toBe(was.replace('"region": "ap"', '"region": "ap", "canary": { "region": "us", "percent": 1 }'));

    const grown = await canary(files, "1", "--percent", "12.5");
    expect(grown.stdout).toBe("/routes/1  ap (1 % us) → ap (12.5 % us)  11.5 % of its IDs change region\n");
    const whole = await canary(files, "1", "--percent", "100");
    expect(whole.stdout).toBe("/routes/1  ap (12.5 % us) → ap (100 % us)  87.5 % of its IDs change region\n");
    const finished = await canary(files, "1", "--finish");
    expect(finished.stdout).toBe("/routes/1  ap (100 % us) → us  no ID is routed differently\n");
    expect(changedLines(own, files.text("table.json"))).toEqual([[was], [was.replace('"ap"', '"us"')]]);
  });

  it("aborts: the file is then what it was", async () => {
    const files = tableFile();
    await canary(files, "1", "--region", "us", "--percent", "40");
    const aborted = await canary(files, "1", "--off");
    expect(aborted.stdout).toBe("/routes/1  ap (40 % us) → ap  40 % of its IDs change region\n");
    expect(files.text("table.json")).toBe(own);
  });

  it("writes nothing on a dry run, and nothing where nothing changes", async () => {
    const files = tableFile();
    const dry = await canary(files, "1", "--region", "us", "--percent", "5", "--dry-run");
    expect(dry.stdout).toBe("/routes/1  ap → ap (5 % us)  5 % of its IDs change region\n");
    expect(dry.stderr).toBe(`table.json: nothing was written (--dry-run)\n`);
    expect(files.text("table.json")).toBe(own);
    await canary(files, "1", "--region", "us", "--percent", "5");
    const same = await canary(files, "1", "--percent", "5");
    expect(same).toEqual({
      stdout: "/routes/1  ap (5 % us) → ap (5 % us)  no ID is routed differently\n",
      stderr: `table.json: nothing to change\n`,
      code: 0,
    });
  });

  it("gives the change as one JSON object", async () => {
    const { stdout } = await canary(tableFile(), "1", "--region", "us", "--percent", "5", "--json");
    expect(JSON.parse(stdout)).toEqual({
      route: "/routes/1",
      before: { region: "ap" },
      after: { region: "ap", canary: { region: "us", percent: 5 } },
      percentMoved: 5,
    });
  });

  it.each<[what: string, args: readonly string[], sentence: string, code?: number]>([
    ["a share that shrinks", ["1", "--percent", "10"], "/routes/1 gives 25 % of its IDs to us; pass --back", 1],
    [
      "another region in the middle of a ramp",
      ["1", "--percent", "30", "--region", "eu"],
      "end that canary with --off",
      1,
    ],
    ["an end before all went over", ["1", "--finish"], "--finish requires a canary of 100 %", 1],
    ["a route without a canary and a region", ["0", "--percent", "5"], "/routes/0 has no canary yet", 1],
    ["to end what is not there", ["0", "--off"], "/routes/0 has no canary.", 1],
    ["the route's own region", ["0", "--percent", "5", "--region", "eu"], 'The route\'s IDs already go to "eu"', 1],
    ["a region that is not there", ["0", "--percent", "5", "--region", "mars"], 'There is no region "mars"', 1],
    ["a route that is not there", ["99", "--percent", "5"], "has no route 99; it has /routes/0 to /routes/10", 1],
    ["a pointer to something else", ["/moved", "--percent", "5"], "has no route /moved"],
    ["nothing to do", ["1"], "pass exactly one of --percent, --off, --finish"],
    ["two things at once", ["1", "--percent", "5", "--off"], "pass exactly one of --percent, --off, --finish"],
    ["a region without a share", ["1", "--off", "--region", "us"], "--region requires --percent"],
    ["to finish backwards", ["1", "--finish", "--back"], "--back has no effect with --finish"],
    ["more than all", ["1", "--percent", "101"], "a number from 0 to 100"],
    ["less than nothing", ["1", "--percent=-1"], "a number from 0 to 100"],
    ["a percent sign", ["1", "--percent", "10%"], "a number from 0 to 100"],
  ])("refuses %s and writes nothing", async (_, args, sentence, fault = 64) => {
    const ramped = own.replace(
      /("country": \["KZ", "UZ", "IN"\] \}, "region": "ap")/,
      '$1, "canary": { "region": "us", "percent": 25 }',
    );
    expect(ramped).not.toBe(own);
    const files = tableFile(ramped);
    const { stdout, stderr, code } = await canary(files, ...args);
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(sentence);
    expect(files.text("table.json")).toBe(ramped);
  });

  it.each([
    ["/routes/0", 'the directory "old", which knows the region of each ID'],
    ["/routes/1", 'the pack "shards"'],
    ["/routes/2", "the parts of a split"],
  ])("says where %s leads, which has no one region", async (route, where) => {
    const text = JSON.stringify({
      regions: { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } },
      directory: { old: { key: { layout: "uuid-v4" } } },
      packs: { shards: { sha256: "0".repeat(64), bytes: 64, ranges: 1, bits: 32, regions: ["eu"] } },
      entities: {
        order: { path: "/orders/:id", ids: [{ layout: "uuid-v4" }] },
        parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
        ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
      },
      routes: [
        { when: { layout: "uuid-v4" }, directory: "old" },
        { when: { layout: "hotguid" }, pack: "shards" },
        { when: { layout: "iuid" }, split: { by: "hash", parts: 2, regions: ["eu", "us"] } },
      ],
    });
    const files = tableFile(text);
    const { stderr, code } = await canary(files, route, "--percent", "5", "--region", "us");
    expect({ stderr, code }).toEqual({
      stderr: `error: ${route} leads to ${where}; only a route to one region can have a canary.\n`,
      code: 1,
    });
    expect(files.text("table.json")).toBe(text);
  });

  it("edits no stdin", async () => {
    const { stderr, code } = await waybill(["canary", "1", "--off", "--table", "-"], { stdin: own });
    expect(code).toBe(64);
    expect(stderr).toContain("cannot be stdin");
  });
});

describe("a step", () => {
  const at = (percent: number): RouteTarget => ({ region: "eu", canary: { region: "us", percent } });

  it.each<[string, RouteTarget, RampStep, RouteTarget | string]>([
    ["shrinks with --back", at(25), { percent: 5, back: true }, at(5)],
    [
      "starts anew from nothing",
      at(0),
      { percent: 5, region: "ap" },
      { region: "eu", canary: { region: "ap", percent: 5 } },
    ],
    ["prepares", { region: "eu" }, { percent: 0, region: "us" }, at(0)],
    ["ends one that took all only when told twice", at(100), {}, "--off --back returns all"],
    ["ends one that took all", at(100), { back: true }, { region: "eu" }],
  ])("%s", (_, before, step, expected) => {
    const after = rampRoute(before, step);
    if (typeof expected === "string")
      expect(after).toMatchObject({ ok: false, error: expect.stringContaining(expected) });
    else expect(after).toEqual({ ok: true, value: expected });
  });
});

describe("comments of a route", () => {
  const route = (text: string) => `{ "routes": [\n${text}\n] }`;

  it.each([
    ['{ "region": "eu" // home\n }', '{ "region": "eu", // home\n      "canary": { "region": "us", "percent": 5 }\n }'],
    [
      '{\n  "region": "eu", /* home */ // all\n}',
      '{\n  "region": "eu", /* home */ // all\n  "canary": { "region": "us", "percent": 5 },\n}',
    ],
    [
      '{ /* a */ "region": "eu" /* b */, "when": {} }',
      '{ /* a */ "region": "eu", /* b */ "canary": { "region": "us", "percent": 5 }, "when": {} }',
    ],
  ])("stay with their member when a canary is added to %j", (before, after) => {
    const edited = rewriteRoute(route(before), 0, { region: "eu", canary: { region: "us", percent: 5 } });
    expect(edited).toEqual({ text: route(after), removed: [] });
  });

  it("stay, but for those of the canary, when it ends", () => {
    const before =
      '{\n  "region": "eu", // home\n  "canary": { "region": "us", /* of */ "percent": 5 }, // trial\n  "when": {} // all\n}';
    expect(rewriteRoute(route(before), 0, { region: "eu" })).toEqual({
      text: route('{\n  "region": "eu", // home\n  "when": {} // all\n}'),
      removed: ["/* of */", "// trial"],
    });
    expect(rewriteRoute(route(before), 0, { region: "eu", canary: { region: "us", percent: 9 } }).text).toBe(
      route(before.replace("5", "9")),
    );
  });
});

describe("an edited text", () => {
  const layouts = [
    (table: object) => JSON.stringify(table),
    (table: object) => JSON.stringify(table, null, 2),
    (table: object) => JSON.stringify(table, null, "\t").replaceAll("\n", "\r\n"),
    (table: object) => JSON.stringify(table, null, 1).replaceAll(/"canary": \{\s+/g, '"canary": {'),
  ];
  const way = fc
    .record({
      region: fc.constantFrom("eu", 'a "b" \\'),
      canary: fc.option(fc.record({ region: fc.constantFrom("us", "ü"), percent: fc.constantFrom(0, 0.5, 10, 100) }), {
        nil: undefined,
      }),
    })
    .map(({ region, canary: share }) => (share === undefined ? { region } : { region, canary: share }));

  it("says what it is to say, and everything else stays", () => {
    fc.assert(
      fc.property(
        fc.array(way, { minLength: 1, maxLength: 3 }),
        fc.nat(2),
        way,
        fc.constantFrom(...layouts),
        fc.boolean(),
        (ways, place, after, write, isCanaryFirst) => {
          const index = place % ways.length;
          const before = ways[index] as RouteTarget;
          const routeOf = ({ region, canary: share }: RouteTarget) => {
            const route = { when: { fields: { region: "x" } }, region, shadow: { region: "ap", percent: 3 } };
            if (share === undefined) return route;
            return isCanaryFirst ? { canary: share, ...route } : { ...route, canary: share };
          };
          const text = write({ a: 1, routes: ways.map(routeOf), z: ["routes"] });
          const edited = rewriteRoute(text, index, after).text;
          const routes: unknown[] = ways.map(routeOf);
          routes[index] = routeOf(after);
          expect(JSON.parse(edited)).toEqual({ a: 1, routes, z: ["routes"] });
          if (JSON.stringify(before) === JSON.stringify(after)) expect(edited).toBe(text);
          const back = rewriteRoute(edited, index, before).text;
          if (before.canary === undefined || after.canary !== undefined) expect(back).toBe(text);
        },
      ),
    );
  });
});

it("docs/reference/routing-table.md: every command gives what stands below it, one after the other", async () => {
  const examples = examplesOf("docs/reference/routing-table.md");
  expect(examples.length).toBeGreaterThan(4);
  const files = MemoryFiles.of({ "routing-table.json": own });
  for (const { command, output } of examples) {
    expect(`${command}\n${await shownBy(command, files)}`).toBe(`${command}\n${output}`);
  }
});
