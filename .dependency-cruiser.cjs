/**
 * The zones of the house as rules: who may import whom. `src/README.md` is the map in words; `test/rules/zones/zones.test.ts`
 * plants a violation of every rule, so that a rule that no longer bites is noticed.
 */

const { readdirSync } = require("node:fs");
const { join } = require("node:path");
/** The features that each feature stands on. It may import these, the core, and itself. */
const NEEDS = require("./src/features/needs.json");

const IDS = "^src/ids/index\\.ts$";
const ROUTING = "^src/routing/index\\.ts$";
const PORTS = ["^src/ports/", "^src/features/[^/]+/port\\.ts$"];
/** The pure part of a feature. */
const TABLE = "^src/features/[^/]+/(table|document)(/|\\.ts$)";
/** Those of the features that tables have. */
const TABLE_LISTS = "^src/features/((checking|comparing|compiling|members)\\.ts|needs\\.json|table-types\\.d\\.ts)$";
/** Errors of a feature, and the problem of each. */
const PROBLEMS = "^src/features/[^/]+/problem(s|-texts)\\.ts$";
/** Handlers of a feature: they answer requests, or change them. */
const SERVE = "^src/features/[^/]+/(serve|load|log-lines)(/|\\.ts$)";
/** The lists of features. The files that compose read them. */
const LISTS = "^src/features/[^/]+\\.ts$";
const FEATURE_EDGE = "^src/features/[^/]+/edge(/|\\.ts$)";
const PAGES = "^src/features/[^/]+/(pages|openapi)(/|\\.ts$)";
const FRONT = "^src/features/[^/]+/front\\.ts$";
const NODE = { dependencyTypesNot: ["core"] };

/** @param {string[]} names */
const packages = (...names) => `^node_modules/(${names.join("|")})/`;

/** Each zone names all that it may import; anything else breaks its rule. */
const ZONES = [
  {
    name: "ids",
    from: "^src/ids/",
    may: ["^src/ids/", packages("@stablelib/aes", "@stablelib/cmac")],
    why: "bits and text of IDs stand on one block cipher",
  },
  {
    name: "routing",
    from: "^src/routing/",
    may: ["^src/(routing|ids)/", TABLE_LISTS, packages("valibot")],
    why: "the table stands on IDs alone",
  },
  {
    name: "feature-table",
    from: TABLE,
    may: ["^src/(routing|ids)/", TABLE, packages("valibot", "graphql", "@noble/hashes", "@scure/base")],
    why: "the part of a table that a feature owns is pure, as the table is",
  },
  {
    name: "feature-problems",
    from: PROBLEMS,
    may: ["^src/(problems|routing|ids)/", PROBLEMS, TABLE],
    why: "errors and their texts are data",
  },
  {
    name: "feature-serve",
    from: SERVE,
    may: [
      "^src/formats/key-field\\.ts$",
      "^src/(gateway|proxy|problems|routing|ids)/",
      SERVE,
      PROBLEMS,
      TABLE,
      ...PORTS,
      packages("@scure/base"),
    ],
    why: "the handlers of a feature stand on the gateway, and know no binding",
  },
  {
    name: "feature-edge",
    from: FEATURE_EDGE,
    may: [
      "^src/(edge|control-plane|formats|ids|routing|proxy|problems)/",
      FEATURE_EDGE,
      SERVE,
      PROBLEMS,
      TABLE,
      ...PORTS,
      packages("jose", "valibot"),
      "^cloudflare:",
    ],
    why: "the objects and stores of a feature stand behind its port",
  },
  {
    name: "feature-pages",
    from: PAGES,
    may: [
      "^routes/",
      "^src/(formats|ids|routing|proxy|problems|gateway)/",
      PAGES,
      SERVE,
      PROBLEMS,
      TABLE,
      ...PORTS,
      packages("hono", "valibot"),
    ],
    why: "the pages of a feature see the world through ports",
  },
  {
    name: "feature-front",
    from: FRONT,
    may: ["^src/(gateway|proxy|problems|routing|ids)/", PAGES, SERVE, TABLE, ...PORTS],
    why: "the front of a feature loads its pages when they are asked for",
  },
  {
    name: "feature-lists",
    from: LISTS,
    may: [
      "^src/features/[^/]+/",
      "^src/routing/(check/feature|diff/feature|feature|schema/compose)\\.ts$",
      "^src/(problems|control-plane)/feature\\.ts$",
    ],
    why: "a list has a line for each feature, and no code",
  },
  {
    name: "formats",
    from: "^src/formats/",
    may: ["^src/(formats|ids|routing)/", packages("jsonc-parser", "valibot")],
    why: "formats that gateway, command and host share know no platform",
  },
  {
    name: "proxy",
    from: "^src/proxy/",
    may: ["^src/(proxy|routing|ids)/", SERVE, TABLE, ...PORTS],
    why: "requests and answers know no framework and no binding",
  },
  {
    name: "gateway",
    from: "^src/gateway/",
    may: [
      "^src/(gateway|proxy|problems|routing|ids)/",
      "^src/features/(checking|serving|loading)\\.ts$",
      SERVE,
      PROBLEMS,
      TABLE,
      ...PORTS,
    ],
    why: "one request from arrival to answer knows no binding",
  },
  {
    name: "problems",
    from: "^src/problems/",
    may: ["^src/(problems|ids|routing|proxy)/", "^src/features/problem(s|-texts)\\.ts$"],
    why: "problems are made of the core's errors",
  },
  {
    name: "ports",
    from: PORTS,
    may: ["^src/(ids|routing|problems|formats)/", "^src/proxy/(errors|signature)\\.ts$", PROBLEMS, TABLE, ...PORTS],
    why: "ports speak in the core's types",
  },
  {
    name: "edge",
    from: "^src/(edge|control-plane)/",
    may: [
      "^src/(edge|control-plane|formats|ids|routing|proxy|problems)/",
      FEATURE_EDGE,
      SERVE,
      TABLE,
      LISTS,
      ...PORTS,
      packages("jose", "valibot", "@scure/base"),
      "^cloudflare:",
    ],
    why: "an adapter knows the platform and the port that it serves, and no route",
  },
  {
    name: "routes",
    from: "^routes/",
    may: [
      "^routes/",
      "^src/(formats|ids|routing|proxy|problems|gateway)/",
      PAGES,
      SERVE,
      PROBLEMS,
      TABLE,
      LISTS,
      ...PORTS,
      packages("hono", "valibot"),
    ],
    why: "the HTTP surface sees the world through ports",
  },
  {
    name: "worker",
    from: "^src/worker(\\.ts$|/)",
    may: [
      "^routes/",
      "^src/(worker|edge|control-plane|gateway|proxy|features|formats|problems)/",
      "^routing-table\\.json$",
      "^cloudflare:",
    ],
    why: "the composition root puts adapters and routes together, and does nothing else",
  },
  {
    name: "export",
    from: "^src/export/",
    may: ["^src/(export|ids|routing)/", TABLE, "^src/problems/catalogue\\.ts$", "^src/proxy/headers\\.ts$"],
    why: "a table becomes files of other engines as text alone: data in, data out",
  },
  {
    name: "console",
    from: "^src/console/",
    may: [
      "^src/(console|ids|routing|problems|formats)/",
      TABLE,
      packages("preact", "@preact/signals", "uplot", "@codemirror/[a-z-]+", "topojson-client", "world-atlas"),
    ],
    why: "the page is the core in a browser: it reaches the gateway by HTTP alone",
  },
  {
    name: "origin",
    from: "^src/origin/",
    may: ["^src/origin/", "^src/proxy/signature\\.ts$", "^src/formats/key-field\\.ts$", "^src/ids/result\\.ts$"],
    why: "the library for origins runs in their programs, on whatever runtime they have",
  },
  {
    name: "cli",
    from: "^src/cli/",
    may: [
      "^src/cli/",
      "^src/(export|formats|ids|routing|problems)/",
      PROBLEMS,
      TABLE,
      "^src/gateway/(decide|explain-id)\\.ts$",
      "^src/features/(replay/(serve|log-lines)|places/serve/explain)\\.ts$",
      "^src/edge/(config|settings)\\.ts$",
      "^src/host/((project|deploy|machines|machines/operate)/[a-z-]+\\.ts|self-hosting\\.ts|moving\\.ts|replace-folder\\.ts|parts\\.ts|templates\\.ts|run\\.mjs)$",
      packages("commander", "jsonc-parser", "valibot", "js-yaml"),
    ],
    to: NODE,
    why: "the command is the core on Node",
  },
  {
    name: "host",
    from: "^src/host/",
    may: [
      "^src/(host|formats)/",
      IDS,
      ROUTING,
      TABLE,
      "^src/edge/(config|settings)\\.ts$",
      packages("es-module-lexer", "jsonc-parser", "esbuild", "rolldown", "workerd", "wrangler"),
    ],
    to: NODE,
    why: "the host runs the Worker, and is no part of it",
  },
  {
    name: "package",
    from: "^src/package/",
    may: [
      "^src/(package|host|cli|ids|routing|problems)/",
      "^src/features/places/serve/explain\\.ts$",
      packages("@jridgewell/sourcemap-codec", "rolldown"),
      // Types of the Worker's classes.
      "^cloudflare:",
    ],
    to: NODE,
    why: "the packer puts the programs together, and no program names it",
  },
  {
    name: "demo",
    from: "^src/demo/",
    may: ["^src/(demo|host|formats)/", IDS, ROUTING, TABLE, packages("graphql")],
    to: NODE,
    why: "the demo stands outside, as any operator does",
  },
];

const zoneRules = ZONES.map(({ name, from, may, to = {}, why }) => ({
  name,
  comment: why,
  severity: "error",
  from: { path: from },
  to: { pathNot: may, ...to },
}));

/** Programs beside the gateway (command, console, export, demo, host, origins' library) may name features. */
const CORE =
  "^(src/(ids|routing|proxy|gateway|problems|ports|formats|edge|control-plane)/|src/worker(\\.ts$|/)|routes/)";

/** The files of the core that read the lists of features. */
const COMPOSERS = [
  "^src/worker/(index|objects|table)\\.ts$",
  "^routes/(app|pages|table/table)\\.ts$",
  "^src/control-plane/(client|object)\\.ts$",
  "^src/edge/(config|table/restored)\\.ts$",
  "^src/gateway/(explain-id|handle|loading)\\.ts$",
  "^src/problems/(catalogue|problem|texts)\\.ts$",
  "^src/routing/(load|resolve/taken|diff/diff|compile/(compile|store))\\.ts$",
];

const FEATURES = readdirSync(join(__dirname, "src/features"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

module.exports = {
  forbidden: [
    ...zoneRules,
    {
      name: "core-names-no-feature",
      comment: "the core loops over the lists of features and names none of them",
      severity: "error",
      from: { path: CORE },
      to: { path: "^src/features/[^/]+/" },
    },
    {
      name: "lists-for-composers",
      comment: "few files put features together; the rest of the core gets them as values",
      severity: "error",
      from: { path: CORE, pathNot: COMPOSERS },
      to: { path: LISTS },
    },
    ...FEATURES.map((feature) => ({
      name: "features-declare-needs",
      comment: "a feature imports the core, itself, and what it needs by src/features/needs.json",
      severity: "error",
      from: { path: `^src/features/${feature}/` },
      to: {
        path: "^src/features/[^/]+/",
        pathNot: `^src/features/(${[feature, ...(NEEDS[feature] ?? [])].join("|")})/`,
      },
    })),
    {
      name: "zone-of-its-own",
      comment: "every source file stands in a zone, so that some rule holds for it",
      severity: "error",
      from: { path: "^src/", pathNot: ZONES.flatMap(({ from }) => from) },
      to: {},
    },
    {
      name: "worker-is-the-root",
      comment: "what imports the composition root drags the whole platform in",
      severity: "error",
      from: { pathNot: "^src/worker(\\.ts$|/)" },
      to: { path: "^src/worker(\\.ts$|/)" },
    },
    {
      name: "types-only",
      comment: "problems and ports name the core's types; they run none of its code",
      severity: "error",
      from: { path: ["^src/problems/", ...PORTS] },
      to: {
        path: "^src/",
        pathNot: ["^src/problems/", "^src/features/problem(s|-texts)\\.ts$"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "no-cycle",
      comment: "data flows one way",
      severity: "error",
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    // Type imports count too, and are told apart.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    doNotFollow: { path: "node_modules" },
    // Files of other people's projects.
    exclude: { path: "^src/package/templates/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["workerd", "worker", "import", "types"] },
    preserveSymlinks: true,
  },
};
