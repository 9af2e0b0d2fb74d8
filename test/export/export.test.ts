import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { haproxyWord } from "../../src/export/haproxy-text.ts";
import { ENGINES, exportTable } from "../../src/export/index.ts";
import { luaDecision } from "../../src/export/lua-program.ts";
import { luaComment, luaString } from "../../src/export/lua-text.ts";
import { nativePaths } from "../../src/export/native.ts";
import { nginxString } from "../../src/export/nginx.ts";
import { type ExportPlan, planExport, planOf } from "../../src/export/plan.ts";
import { readShape, shapeOf } from "../../src/export/text-shape.ts";
import { TABLE_FEATURES } from "../../src/features/compiling.ts";
import { refusalAt } from "../../src/gateway/decide.ts";
import { replaceFolder } from "../../src/host/replace-folder.ts";
import { everyLayout } from "../../src/ids/index.ts";
import { planChecked } from "../../src/routing/compile/compile.ts";
import type { TableFeature } from "../../src/routing/feature.ts";
import { checkTable, loadTable } from "../../src/routing/index.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import type { OwnPaths } from "../../src/routing/table.ts";
import { waybill } from "../cli/fake-runtime.ts";
import { tableFiles } from "../cli/memory-files.ts";
import { sampleTable } from "../routing/tables.ts";
import { ALPHABET_TABLE } from "./alphabet-table.ts";
import { EXPORT_OPTIONS } from "./engines.ts";
import envoyFields from "./envoy-fields.json" with { type: "json" };
import richTable from "./rich-table.json" with { type: "json" };

const folder = mkdtempSync(join(tmpdir(), "waybill-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rich = checkTable(richTable);
if (!rich.ok) throw new Error(JSON.stringify(rich.error));

describe("text shapes", () => {
  it("are known for each canonical form that is one number", () => {
    const without = everyLayout.filter(({ table }) => shapeOf(table.text) === undefined).map(({ name }) => name);
    expect(without).toEqual(["distributed-id", "sid", "xid", "cuid"]);
  });

  it("are known for declared alphabets, but those that fill up at the end", () => {
    const checked = checkTable(ALPHABET_TABLE);
    if (!checked.ok) throw new Error(JSON.stringify(checked.error));
    const { forwarded } = planExport(checked.value);
    expect(forwarded).toEqual([
      { what: "bytes at /bytes/:id", why: "the text form base64url of its IDs is not one number" },
      { what: "wide at /wide/:id", why: "IDs of more than 160 bits" },
    ]);
  });

  it("read no text that the form does not", () => {
    for (const { table } of [...everyLayout, ...declaredLayouts()]) {
      const shape = shapeOf(table.text);
      if (shape === undefined) continue;
      for (const text of ["", "-", " ", "0", "zz", "0".repeat(shape.length + 1), "İ".repeat(shape.length)]) {
        expect(readShape(shape, text)).toEqual(table.text.read(text, 0, text.length));
      }
    }
  });
});

const declaredLayouts = () => {
  const table = loadTable(ALPHABET_TABLE, 1);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return [...table.value.layouts.values()].map(({ layout }) => layout);
};

describe("values of the table", () => {
  it.each(['a"b', "a\\b", "a;b}", "#", "a\nb", "é", "]]"])("stay one string in Lua: %j", (text) => {
    const written = luaString(text);
    expect(written).toMatch(/^"[ -~]*"$/);
    const read = written.slice(1, -1).replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code)));
    expect(Buffer.from(read, "latin1").toString("utf8")).toBe(text);
    expect(read).not.toContain("\\000");
  });

  it("do not end a comment", () => {
    expect(luaComment("a\nos.exit()")).toBe("-- a?os.exit()");
  });

  it("are quoted for nginx, or refused where it would expand them", () => {
    expect(nginxString('a"b\\c;}')).toBe('"a\\"b\\\\c;}"');
    expect(() => nginxString("$host")).toThrow("nginx cannot hold");
    expect(() => nginxString("a\nb")).toThrow("nginx cannot hold");
  });

  it("are quoted for HAProxy", () => {
    expect(haproxyWord("it's $HOME #1")).toBe("'it'\\''s $HOME #1'");
    expect(() => haproxyWord("a\nb")).toThrow("HAProxy cannot hold");
  });
});

describe("lists over all regions", () => {
  it("and many IDs at once go to Waybill, also where the table has nothing else without an ID", () => {
    const table = sampleTable();
    const order = { ...table.entities["order"], list: { items: "/items", order: "none" } };
    const programOf = (entities: object) => {
      const checked = checkTable({ ...table, entities: { ...table.entities, ...entities } });
      if (!checked.ok) throw new Error(JSON.stringify(checked.error));
      const plan = planExport(checked.value);
      return { plan, program: luaDecision(plan, "test") };
    };
    const listed = programOf({ order });
    expect(listed.plan.forwarded).toContainEqual({ what: "GET /orders", why: "lists over all regions" });
    expect(listed.program).toContain("if not leaf then return 0 end");
    expect(programOf({}).program).toContain('if not leaf then return path ~= "/" and -1 or 0 end');
    expect(listed.program).toContain('path == "/any"');
  });
});

describe("paths that features answer", () => {
  const planned = (declared: DeclaredTable, own: Partial<OwnPaths>, ...patterns: readonly string[]) => {
    const left = () => patterns.map((pattern) => ({ pattern, what: `GET ${pattern}`, why: "pings" }));
    const paths: Omit<OwnPaths, "feature"> = {
      methods: ["GET"],
      answeredBy: "gateway",
      ownerAt: () => undefined,
      left,
      plain: () => ({}),
      ...own,
    };
    const planted: TableFeature = { name: "ping", compile: () => ({ ownPaths: () => paths }) };
    return planOf(planChecked(declared, "serve", [...TABLE_FEATURES, planted]));
  };
  const programOf = (plan: ExportPlan) => luaDecision(plan, "test");
  const whyOf = ({ forwarded }: ExportPlan, what: string) => forwarded.find((one) => one.what === what)?.why;

  it("go to Waybill, and are listed, whichever feature has them", () => {
    const plan = planned(sampleTable(), {}, "/ping/:id");
    expect(plan.forwarded).toContainEqual({ what: "GET /ping/:id", why: "pings" });
    expect(programOf(plan)).toContain("if not leaf then return 0 end");
    expect(whyOf(plan, "order at /orders/:id")).toBeUndefined();
  });

  it.each(["/orders/:id", "/orders/:id/ping", "/orders/status", "/*/:id/ping", "/:id/:id"])(
    "%s takes the entity's pattern along",
    (pattern) => {
      const plan = planned(sampleTable(), {}, pattern);
      expect(whyOf(plan, "order at /orders/:id")).toBe(`pings at ${pattern}`);
      expect(plan.patterns.find((one) => one.pattern === "/orders/:id")?.reading).toBeUndefined();
    },
  );

  it.each(["/orders", "/order/:id", "/v1/orders/:id"])("%s leaves the entity's pattern alone", (pattern) => {
    expect(whyOf(planned(sampleTable(), {}, pattern), "order at /orders/:id")).toBeUndefined();
  });

  it("with POST alone leave the entity's other requests to the engine", () => {
    const plan = planned(sampleTable(), { methods: ["POST"] }, "/pings", "/orders/:id/pings", "/orders/:id/pings/:id");
    expect(plan.creates.collections).toEqual(["/pings", "/orders/:id/pings"]);
    // Engines know no such path.
    expect(whyOf(plan, "order at /orders/:id")).toBe("pings at /orders/:id/pings/:id");
  });

  it("of a table that creates are refused with the methods that they have: no engine says 404", () => {
    const table = sampleTable();
    const create = { key: { country: [{ header: "x-country" }] } };
    const created = { ...table, entities: { ...table.entities, order: { ...table.entities["order"], create } } };
    const loaded = loadTable(created, 1);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    const error = { reason: "unrouted-path" } as const;
    expect(refusalAt({ table: loaded.value, canary: undefined }, "/orders", "GET", error)).toMatchObject({
      allow: ["POST"],
    });
    const plan = planExport(created as DeclaredTable);
    expect(programOf(plan)).toContain("if not leaf then return 0 end");
    expect(plan.forwarded).toContainEqual({ what: "POST /orders", why: "creation" });
  });
});

describe("paths that a map decides", () => {
  const nativeOf = (entities: object, routes: readonly object[]) => {
    const origin = { origins: [{ url: "https://a.example" }] };
    const table = checkTable({ regions: { eu: origin, us: origin }, countries: { KZ: 5, DE: 9 }, entities, routes });
    if (!table.ok) throw new Error(JSON.stringify(table.error));
    return nativePaths(planExport(table.value));
  };
  const order = { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] };
  const routes = [
    { when: { layout: "iuid", country: "KZ", mintedBefore: "2026-06-01T00:00:00Z" }, region: "eu" },
    { when: { layout: "iuid", country: "KZ" }, region: "us" },
    { when: { layout: "iuid", country: "DE" }, region: "us" },
  ];

  it("are those whose region is in a few digits, without what depends on the time", () => {
    const [native, ...others] = nativeOf({ order }, routes);
    expect(others).toEqual([]);
    expect(native).toMatchObject({ id: { from: 8, length: 36 }, digits: { from: 24, length: 2 } });
    expect([...(native?.regions ?? [])]).toEqual([["09", 2]]);
    const expression = new RegExp(`^${native?.expression}$`);
    expect(expression.test("/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78")).toBe(true);
    // Another service, upper case, and more of a path.
    for (const id of ["0192f0c1-7a30-8005-8080-8f3b2a1c9d78", "0192F0C1-7a30-8005-8040-8f3b2a1c9d78"]) {
      expect(expression.test(`/orders/${id}`)).toBe(false);
    }
    expect(expression.test("/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78/x")).toBe(false);
  });

  it("are none that another pattern may take", () => {
    const own = { ...order, path: "/of/orders/:id" };
    const any = { path: ["/parcels/:id", "/of/*/:id"], ids: [{ layout: "hotguid" }] };
    const rest = { when: { layout: "hotguid" }, region: "eu" };
    expect(nativeOf({ own, any }, [...routes, rest]).map(({ decision }) => decision.entity.name)).toEqual(["any"]);
  });
});

it("lists all that Waybill decides, with its reason", () => {
  const { forwarded } = planExport(rich.value);
  expect(forwarded).toEqual(
    expect.arrayContaining([
      { what: "route 2", why: "a canary" },
      { what: "route 3", why: "a split" },
      { what: "secret at /secrets/:id", why: "public IDs" },
      { what: "login at /login", why: "requests without an ID" },
      { what: "3 IDs of moved, moves and gone", why: "overrides of single IDs" },
      { what: "short keys of person", why: "short keys" },
    ]),
  );
});

it("leaves paths whose IDs may be elsewhere to Waybill", () => {
  const table = { ...sampleTable(), entities: { ...sampleTable().entities } };
  const order = table.entities["order"];
  if (order === undefined) throw new Error("the sample has no order");
  table.entities["order"] = { ...order, idIn: [{ query: "order_id" }] };
  const { patterns, forwarded } = planExport(table);
  expect(patterns.find(({ pattern }) => pattern === "/orders/:id")?.reading).toBeUndefined();
  expect(patterns.find(({ pattern }) => pattern === "/rides/:id")?.reading).toBeDefined();
  expect(forwarded).toContainEqual({ what: "order at /orders/:id", why: "IDs beside the path" });
});

it.each(ENGINES)("an export to %s names each part that goes to Waybill in its own comments", (engine) => {
  const { files, forwarded } = exportTable(engine, rich.value, EXPORT_OPTIONS);
  const text = files.map((file) => file.text).join("\n");
  for (const { what } of forwarded) expect(text).toContain(what);
});

it.each(ENGINES)("an export to %s of a table without entities leaves all to Waybill", (engine) => {
  const regions = { eu: { origins: [{ url: "https://eu.internal.example.com" }] } };
  const app = { path: ["/", "/**"], sources: [{ header: "a", unlisted: "next" as const }, { region: "eu" }] };
  const { files, forwarded } = exportTable(engine, { regions, routes: [], withoutId: { app } }, EXPORT_OPTIONS);
  expect(forwarded).toEqual([{ what: "app at /, /**", why: "requests without an ID" }]);
  expect(files.length).toBeGreaterThan(0);
});

describe("the command", () => {
  const run = (...args: string[]) => waybill(["export", ...args], { files: tableFiles(richTable) });

  it("writes nothing without a gateway for what the engine cannot decide", async () => {
    const { code, stderr } = await run("nginx", "--out", join(folder, "none"));
    expect(code).toBe(1);
    expect(stderr).toContain("secret at /secrets/:id: public IDs");
    expect(stderr).toContain("--without-waybill");
    expect(readdirSync(folder)).not.toContain("none");
  });

  it.each(ENGINES)("writes %s", async (engine) => {
    // The slash at the end must not put the new folder into the old one.
    const out = `${join(folder, engine)}/`;
    const { code, stdout, stderr } = await run(
      engine,
      "--out",
      out,
      "--waybill",
      "http://127.0.0.1:8787",
      "--no-check",
    );
    expect(stderr).toContain("--no-check");
    expect(code).toBe(0);
    expect(stdout).toContain("Decided by http://127.0.0.1:8787:");
    expect(readdirSync(out)).not.toEqual([]);
  });

  it.each(["foreign", "foreign.previous"])("replaces no folder that it did not write: %s", async (name) => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "keep.txt"), "mine");
    const { code, stderr } = await run("nginx", "--out", join(folder, "foreign"), "--without-waybill");
    expect([code, stderr]).toEqual([
      1,
      `error: no export wrote ${join(own, "keep.txt")}. Name another folder with --out. Nothing was written.\n`,
    ]);
    expect(readdirSync(own)).toEqual(["keep.txt"]);
    rmSync(own, { recursive: true });
  });

  it.each([
    ["Write one of", "caddy", "--out", "/a"],
    ["whole path", "nginx", "--out", "relative"],
    ["whole path", "nginx", "--out", "/"],
    ["whole path", "nginx", "--out", '/a"b'],
    ["Write a URL", "nginx", "--out", "/a", "--waybill", "http://h/path"],
    ["an address and a port", "nginx", "--out", "/a", "--listen", "0.0.0.0:65536"],
    ["an address and a port", "nginx", "--out", "/a", "--listen", "0.0.0.0:0"],
    ["not both", "nginx", "--out", "/a", "--waybill", "http://h:1", "--without-waybill"],
  ])("says %j to %j %j %j", async (says, ...args) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([64, expect.stringContaining(says)]);
  });
});

describe("a folder that is replaced", () => {
  const out = join(folder, "replaced");
  const read = (path: string) => readFileSync(path, "utf8");
  const write = (text: string, status: number) =>
    replaceFolder(out, [{ name: "a", text }], {
      program: "sh",
      args: ["-c", `echo no >&2; exit ${status}`],
      files: [{ name: "check", text }],
      leaves: [],
    });

  it("is the new one only if the check accepts it, and the one before is kept", () => {
    expect(write("1", 0)).toBe("checked");
    expect(write("2", 0)).toBe("checked");
    expect([read(join(out, "a")), read(join(`${out}.previous`, "a")), readdirSync(out)]).toEqual(["2", "1", ["a"]]);
    expect(() => write("3", 1)).toThrow("no");
    expect([read(join(out, "a")), read(join(`${out}.previous`, "a"))]).toEqual(["2", "1"]);
  });

  it("says so where the program is not installed", () => {
    const check = { program: "waybill-no-such-program", args: [], files: [], leaves: [] };
    expect(replaceFolder(out, [{ name: "a", text: "4" }], check)).toBe("not-installed");
  });
});

describe("the file for Envoy", () => {
  const { messages } = envoyFields as { readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>> };

  /** As `google.protobuf` writes them in JSON. */
  const WELL_KNOWN: Readonly<Record<string, (value: unknown) => boolean>> = {
    "google.protobuf.Duration": (value) => /^\d+(?:\.\d+)?s$/.test(String(value)),
    "google.protobuf.BoolValue": (value) => typeof value === "boolean",
    "google.protobuf.UInt32Value": Number.isInteger,
    "google.protobuf.Struct": (value) => typeof value === "object",
  };

  const faultsOf = (type: string, value: unknown, at: string): readonly string[] => {
    const isValid = WELL_KNOWN[type];
    if (isValid !== undefined) return isValid(value) ? [] : [`${at} is no ${type}`];
    if (type.startsWith("enum "))
      return type.slice(5).split("|").includes(String(value)) ? [] : [`${at} has no value ${value}`];
    if (type === "string") return typeof value === "string" ? [] : [`${at} is no text`];
    if (type === "bool") return typeof value === "boolean" ? [] : [`${at} is no boolean`];
    if (/^u?int(?:32|64)$/.test(type)) return /^\d+$/.test(String(value)) ? [] : [`${at} is no number`];
    const { "@type": named, ...members } = value as Record<string, unknown>;
    const own = type === "google.protobuf.Any" ? String(named).replace("type.googleapis.com/", "") : type;
    const fields = messages[own];
    if (fields === undefined) return [`${at}: no message ${own}`];
    return Object.entries(members).flatMap(([name, member]) => {
      const kind = fields[name];
      if (kind === undefined) return [`${at}: ${own} has no field ${name}`];
      if (!kind.startsWith("repeated ")) return faultsOf(kind, member, `${at}.${name}`);
      return Array.isArray(member)
        ? member.flatMap((one, place) => faultsOf(kind.slice("repeated ".length), one, `${at}.${name}[${place}]`))
        : [`${at}.${name} is no list`];
    });
  };

  const bootstrapOf = (regions: typeof rich.value.regions) => {
    const { files } = exportTable(
      "envoy",
      { ...rich.value, regions },
      { ...EXPORT_OPTIONS, waybill: "http://127.0.0.1:8787" },
    );
    return JSON.parse(files[0]?.text ?? "");
  };

  it("has only fields of the published protobuf files, with values of their types", () => {
    const ap = { origins: [{ url: "https://a.example" }, { url: "https://b.example" }], health: { path: "/healthz" } };
    const bootstrap = bootstrapOf({ ...rich.value.regions, ap });
    expect(faultsOf("envoy.config.bootstrap.v3.Bootstrap", bootstrap, "")).toEqual([]);
    bootstrap.static_resources.listeners[0].adress = {};
    expect(faultsOf("envoy.config.bootstrap.v3.Bootstrap", bootstrap, "")).toHaveLength(1);
  });

  it("refuses where its script fails, and never falls back to a region", () => {
    const text = JSON.stringify(bootstrapOf(rich.value.regions));
    expect(text).toContain('"default_cluster":"waybill_refuse"');
    expect(text).toContain('{"name":"waybill_refuse","type":"STATIC","connect_timeout":"1s"}');
  });
});

describe("a table of a mesh", () => {
  const table = structuredClone(rich.value);
  const { eu } = table.regions;
  if (eu !== undefined) eu.gateway = "https://eu.gateway.example.com";
  const whyOf = (selfRegions?: readonly string[]) =>
    planExport(table, { selfRegions }).forwarded.find(({ what }) => what === "region eu")?.why;

  it("leaves regions of other gateways to Waybill, as it asks them", () => {
    expect(whyOf([])).toBe("a gateway of the mesh");
    expect(whyOf(["eu"])).toBe(whyOf());
    expect(whyOf()).not.toBe("a gateway of the mesh");
  });
});
