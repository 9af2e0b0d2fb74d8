import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, type RuntimeOptions, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const ORDER = "01990f04-d900-8005-8040-000000000001";
const SECOND = "01990f04-d900-8005-8040-000000000002";
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";

/** A table of its own for each test. */
const setUp = (table: object = DECLARED_TABLE) => {
  const files = tableFiles(table);
  const file = "routing-table.json";
  return {
    files,
    file,
    move: (args: readonly string[], options: RuntimeOptions = {}) => waybill(["move", ...args], { files, ...options }),
    text: () => files.text(file),
    table: () => files.json(file),
  };
};

describe.concurrent("waybill move", () => {
  it("takes an entity through all steps, and says what to do next", async () => {
    const { move, table } = setUp();
    const started = await move(["start", ORDER, "--to", "us"]);
    expect(started).toMatchObject({ code: 0, stdout: `${ORDER}  ap → us  started, epoch 1\n` });
    expect(started.stderr).toMatch(/^routing-table.json: changed 1 entity\nnext: publish the table/);
    expect(table()).toEqual({
      ...DECLARED_TABLE,
      moves: { [ORDER]: { from: "ap", to: "us", state: "started", epoch: 1 } },
    });
    expect((await move(["fence", ORDER])).stdout).toBe(`${ORDER}  ap → us  fenced, epoch 2\n`);
    expect((await move(["switch", ORDER])).stdout).toBe(`${ORDER}  us  moved, epoch 3\n`);
    expect(table()).toEqual({ ...DECLARED_TABLE, moved: { [ORDER]: { region: "us", epoch: 3 } } });
    const finished = await move(["finish", ORDER]);
    expect(finished.stderr).toMatch(/^routing-table.json: nothing to change for 1 entity\nnext: nothing to publish/);
    expect(table()).toHaveProperty("moved");
  });

  it("leaves the table's text as it was, when a move is aborted and its end changes nothing", async () => {
    const { move, text, table } = setUp();
    const before = text();
    for (const step of [
      ["start", ORDER, "--to", "us"],
      ["abort", ORDER],
      ["finish", ORDER],
    ]) {
      expect(await move(step)).toMatchObject({ code: 0 });
    }
    // The next move begins above the epochs of this one.
    expect(text()).toBe(before.replace("\n  ]\n}", '\n  ],\n  "epochFloor": 2\n}'));
    expect((await move(["start", SECOND, "--to", "us"])).stdout).toContain("epoch 3");
    expect((await move(["gone", PARCEL])).stdout).toContain("epoch 3");
    expect(table().epochFloor).toBe(2);
  });

  it("keeps an entry that the routes may come to contradict", async () => {
    const routes = [{ when: {}, region: "ap", canary: { region: "us", percent: 0 } }];
    const { move, table } = setUp({ ...DECLARED_TABLE, routes });
    await move(["start", ORDER, "--to", "us"]);
    await move(["abort", ORDER]);
    expect(await move(["finish", ORDER])).toMatchObject({ code: 0 });
    expect(table()).toMatchObject({ moved: { [ORDER]: { region: "ap", epoch: 2 } } });
  });

  it("takes many IDs from stdin, all or none", async () => {
    const { move, text, table } = setUp();
    const before = text();
    const refused = await move(["start", "-", "--to", "us"], { stdin: `${ORDER}\nnonsense\n\n${SECOND}\n${ORDER}\n` });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain('error: nonsense: "nonsense" is not an ID');
    expect(refused.stderr).toContain(`error: ${ORDER}: it is named twice\nerror: nothing was written\n`);
    expect(text()).toBe(before);
    const { stdout } = await move(["start", "-", "--to", "us", "--json"], {
      stdin: `${ORDER}\n${PARCEL}\r\n${SECOND}\n`,
    });
    expect(objectsOf(stdout)).toEqual([
      {
        id: ORDER,
        before: { state: "routed", region: "ap" },
        after: { state: "started", from: "ap", to: "us", epoch: 1 },
      },
      expect.objectContaining({ id: PARCEL, before: { state: "routed", region: "eu" } }),
      expect.objectContaining({ id: SECOND }),
    ]);
    expect(Object.keys(table().moves)).toEqual([ORDER, PARCEL, SECOND]);
  });

  it("shows with --dry-run what it would do, and writes nothing", async () => {
    const { move, text } = setUp();
    const before = text();
    const { stdout, stderr, code } = await move(["start", ORDER, "--to", "us", "--dry-run"]);
    expect({ stdout, code }).toEqual({ stdout: `${ORDER}  ap → us  started, epoch 1\n`, code: 0 });
    expect(stderr).toContain("would change 1 entity; nothing was written");
    expect(text()).toBe(before);
  });

  it("writes the canonical text of an ID, and knows it in each text", async () => {
    const { move, table } = setUp();
    await move(["start", ORDER.toUpperCase(), "--to", "us"]);
    expect(Object.keys(table().moves)).toEqual([ORDER]);
    expect(await move(["fence", ORDER.toUpperCase()])).toMatchObject({ code: 0 });
  });

  it("refuses what the table says under another text of the same entity", async () => {
    const box = { path: "/boxes/:id", ids: [{ layout: "hotguid-sql" }] };
    const routes = [{ when: {}, region: "eu" }];
    const moved = { "000000d0-0302-0102-01cc-6347eb00bbaa": "us" };
    const { move } = setUp({ ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, box }, routes, moved });
    const { stderr, code } = await move(["start", PARCEL, "--to", "ap"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`error: ${PARCEL}: it is in the table in another form`);
  });

  it("refuses to guess where an entity is", async () => {
    const crate = { path: "/crates/:id", ids: [{ layout: "hotguid" }] };
    const routes = [
      { when: { entity: "crate" }, region: "us" },
      { when: {}, region: "eu" },
    ];
    const { move } = setUp({ ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, crate }, routes });
    const { stderr, code } = await move(["start", PARCEL, "--to", "ap"]);
    expect(code).toBe(1);
    expect(stderr).toContain("it can be read in several ways (hotguid) that do not route to the same place");
  });

  it("refuses regions that are not there, tables with faults, and a table on stdin", async () => {
    const { files, move, file, text } = setUp();
    expect((await move(["start", ORDER, "--to", "mars"])).stderr).toBe(
      'error: routing-table.json has no region "mars"; it has eu, us, ap (--to)\n',
    );
    expect((await move(["start", ORDER])).stderr).toContain("required option '--to <region>'");
    expect((await move(["fence", ORDER, "--table", "-"], { stdin: text() })).stderr).toContain("(--table)");
    expect((await move(["fence", ORDER, "--table", "none.json"])).stderr).toContain("none.json cannot be read");
    files.write(file, text().replace('"region": "eu"', '"region": "mars"'));
    const faulty = await move(["start", ORDER, "--to", "us"]);
    expect(faulty).toMatchObject({ code: 1, stdout: "" });
    expect(faulty.stderr).toMatch(/^routing-table.json:\d+:\d+: \/routes\/2\/region: /);
  });

  it("says with --epoch that regions know of higher ones", async () => {
    const { move } = setUp();
    expect((await move(["start", ORDER, "--to", "us", "--epoch", "7"])).stdout).toContain("epoch 7");
    expect((await move(["fence", ORDER])).stdout).toContain("epoch 8");
    expect((await move(["start", SECOND, "--to", "us", "--epoch", "0"])).code).toBe(64);
  });

  it("ends an entity for good", async () => {
    const { move, table } = setUp();
    expect((await move(["gone", ORDER])).stdout).toBe(`${ORDER}  nowhere  gone, epoch 1\n`);
    expect(table().gone).toEqual({ [ORDER]: { epoch: 1 } });
    const again = await move(["start", ORDER, "--to", "us"]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("it is permanently removed") });
  });

  it("shows where entities are", async () => {
    const moves = { [ORDER]: { from: "ap", to: "us", state: "fenced", epoch: 2 } };
    const { move } = setUp({ ...DECLARED_TABLE, moves, moved: { [SECOND]: "eu" }, gone: { [PARCEL]: { epoch: 4 } } });
    expect(await move(["status"])).toEqual({
      stdout: `${ORDER}  ap → us  fenced, epoch 2\n`,
      stderr: "routing-table.json: 1 move in progress, 1 moved, 1 gone\n",
      code: 0,
    });
    const third = "01990f04-d900-8005-8040-000000000003";
    const { stdout } = await move(["status", SECOND, PARCEL, third]);
    expect(stdout.split("\n")).toEqual([
      `${SECOND}  eu       moved`,
      `${PARCEL}  nowhere  gone, epoch 4`,
      `${third}  ap       by the routes`,
      "",
    ]);
    expect(objectsOf((await move(["status", "--json", "-"], { stdin: `${ORDER}\n` })).stdout)).toEqual([
      { id: ORDER, from: "ap", to: "us", state: "fenced", epoch: 2 },
    ]);
    expect(await move(["status", "x"])).toMatchObject({ code: 1, stdout: "" });
  });
});
