import { describe, expect, it } from "vitest";
import { formatScreen } from "../../../src/demo/screen.ts";
import { missingKeysNote } from "../../../src/host/project/table-file.ts";
import { isOpen, settingsFrom } from "../../../src/host/settings.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const GOOD = {
  REQUEST_LOG: "json",
  TABLE_REFRESH_SECONDS: "5",
  REPORT_SECONDS: "0",
  CHECK_SECONDS: "3",
  FIRST_BYTE_DEADLINE_MS: "1000",
  IDLE_DEADLINE_MS: "0",
  TOTAL_DEADLINE_MS: "9000",
  PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "a", key: KEY }] }),
  ORIGIN_SIGNING_KEYS: JSON.stringify([{ id: "a", key: KEY }]),
  CLIENT_RATE_LIMIT: "600/60",
  ENTITY_RATE_LIMIT: "60/10",
  LOOKUP_RATE_LIMIT: "30/10",
};

describe("the environment of npm start", () => {
  it("is passed on as far as it has settings, and nothing else of it", () => {
    expect(settingsFrom({ ...GOOD, HOME: "/", CLIENT_ADDRESS: "cf-connecting-ip" })).toEqual(GOOD);
    expect(settingsFrom({})).toEqual({});
  });

  it.each(Object.keys(GOOD))("has no %s where it is empty", (name) => {
    expect(settingsFrom({ [name]: "" })).toEqual({});
  });

  it.each([
    ...Object.keys(GOOD).map((name) => [name, "hunter2"] as const),
    ["CLIENT_RATE_LIMIT", "600"],
    ["CHECK_SECONDS", "3601"],
    ["ADMIN_TOKENS", "hunter2"],
    ["ADMIN_TOKENS", ""],
    ["ACCESS_TEAM_DOMAIN", ""],
  ] as const)("is refused before anything starts where %s is %j, and a secret stays one", (name, value) => {
    expect(() => settingsFrom({ [name]: value })).toThrow(name);
    if (/KEYS|TOKENS/.test(name)) expect(() => settingsFrom({ [name]: value })).not.toThrow("hunter2");
  });

  it("opens the pages only where nothing says who may come in", () => {
    expect([isOpen({}), isOpen({ ADMIN_TOKENS: "" }), isOpen({ ACCESS_TEAM_DOMAIN: "x" })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([true, false])(
    "shows a page of the gateway's own with a token where they are closed (open: %s)",
    (isOpen) => {
      const id = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
      const sample = {
        region: "eu",
        entity: "order",
        about: "Kazakhstan",
        id,
        path: `/orders/${id}`,
        internalPath: `/orders/${id}`,
      };
      const screen = formatScreen({
        url: "http://gateway.test",
        consoleUrl: "http://console.test",
        tableName: "routing-table.json",
        regions: { eu: { origins: [] } },
        entities: new Map(),
        withoutId: [],
        creates: undefined,
        folder: "state",
        samples: [sample],
        isOpen,
        isWhole: true,
        paint: (_, text) => text,
      });
      const line = screen.split("\n").find((text) => text.includes("/-/ids/"));
      expect(line).toBe(
        `  curl ${isOpen ? "" : '-H "authorization: Bearer $WAYBILL_TOKEN" '}http://gateway.test/-/ids/${id}`,
      );
    },
  );

  it("lacks the keys of public IDs where it has an empty text", () => {
    const { order } = DECLARED_TABLE.entities;
    const entities = { ...DECLARED_TABLE.entities, order: { ...order, public: true } };
    const loaded = loadTable({ ...DECLARED_TABLE, entities }, 1);
    if (!loaded.ok) throw new Error("the table has faults");
    expect(missingKeysNote(loaded.value, { PUBLIC_ID_KEYS: "" })).toContain("order (sealed)");
    expect(missingKeysNote(loaded.value, GOOD)).toBeUndefined();
  });
});
