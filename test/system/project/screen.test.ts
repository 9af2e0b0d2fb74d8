import { expect, it } from "vitest";
import { ENTITIES_MAX, formatStart, type StartScreen } from "../../../src/host/project/screen.ts";

const ID = "019cade2-11c0-8001-8046-59ee4382dbe7";

/** As many origins and entities as a table may have, with names and IDs of common lengths. */
const FULL: StartScreen = {
  url: "http://127.0.0.1:65535",
  table: "routing-table.json",
  revision: 1234,
  isWatched: true,
  state: ".waybill/default",
  origins: Array.from({ length: 40 }, (_, at) => ({
    region: `region-${at}`,
    url: `http://127.0.0.1:${9000 + at}`,
    isStandIn: true,
  })),
  entities: Array.from({ length: ENTITIES_MAX }, (_, at) => ({
    entity: `entity-${at}`,
    paths: [`/entity-${at}/:id`],
    sample: {
      entity: `entity-${at}`,
      id: ID,
      region: "region-1",
      about: "DE, older",
      path: `/entity-${at}/${ID}`,
      internalPath: `/entity-${at}/${ID}`,
    },
  })),
  entityCount: 40,
  notes: [],
  consoleUrl: "http://console.localhost:65535",
  token: undefined,
  isOpen: true,
  paint: (_, text) => text,
};

const rowsOf = (screen: StartScreen): number =>
  formatStart(screen)
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);

it("fits a terminal of 24 lines of 80 columns", () => {
  expect(rowsOf(FULL)).toBeLessThanOrEqual(24);
  expect(rowsOf({ ...FULL, isOpen: false })).toBeLessThanOrEqual(24);
  expect(rowsOf({ ...FULL, isOpen: false, token: `waybill_${"x".repeat(43)}` })).toBeLessThanOrEqual(25);
});

it("says how much it leaves out", () => {
  const screen = formatStart(FULL);
  expect(screen).toContain("  and 35 more\n");
  expect(screen).toContain("  and 36 more: `waybill mint --entity NAME`\n");
});
