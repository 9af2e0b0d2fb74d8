import { columns, type Paint } from "../host/project/lines.ts";
import type { Sample } from "../host/project/samples.ts";
import type { CompiledTable, DeclaredTable, Entity } from "../routing/index.ts";

export interface Screen {
  readonly url: string;
  readonly consoleUrl: string;
  /** Where the demo's regions are put out of order. */
  readonly switchUrl?: string | undefined;
  readonly tableName: string;
  /** With the origins as they are served. */
  readonly regions: DeclaredTable["regions"];
  readonly entities: CompiledTable["entities"];
  readonly withoutId: CompiledTable["withoutId"]["entries"];
  readonly creates: CompiledTable["creates"];
  readonly folder: string;
  /** Absent: the table has its own origins. */
  readonly samples?: readonly Sample[] | undefined;
  /** Whether the gateway's own pages need no token. */
  readonly isOpen: boolean;
  /** Whether all samples and commands are shown, which takes several screens. */
  readonly isWhole: boolean;
  readonly paint: Paint;
}

/** Rows of a list on the one screen that a start prints: with three regions it fits 24 lines of 80 columns. */
const ROWS_SHOWN = 4;
const COLUMNS = 80;

const cut = (rows: readonly (readonly string[])[], what: string, isWhole: boolean): string[] => {
  const shown = columns(isWhole ? rows : rows.slice(0, ROWS_SHOWN));
  return shown.length < rows.length ? [...shown, `  and ${rows.length - shown.length} more ${what}`] : shown;
};

/** Where everything is, IDs to try, and commands to copy. */
export function formatScreen(screen: Screen): string {
  const { url, consoleUrl, tableName, regions, entities, withoutId, folder, samples, isWhole, paint } = screen;
  const urlsOf = (origins: readonly { readonly url: string }[]) => origins.map((origin) => origin.url).join(", ");
  const originRows = Object.entries(regions).map(([name, { origins }]) => [
    name.padEnd("gateway".length),
    urlsOf(origins),
  ]);
  const listOf = (title: string, owners: readonly Entity[]) => {
    const rows = owners.map(({ name, paths }) => [name, paths.join(", ")]);
    return rows.length === 0 ? [] : [paint("bold", title), ...cut(rows, "entities", isWhole)];
  };
  const others = withoutId.map(({ entity }) => entity);
  return [
    `${paint("bold", "Waybill")} reads in an ID where a request belongs, and takes it there.`,
    ...columns([
      ["gateway", url],
      ["table", tableName],
      ["state", folder],
    ]),
    ...cut(originRows, "regions", isWhole),
    "",
    ...(samples === undefined
      ? [...listOf("Entities", [...entities.values()]), ...listOf("Without an ID", others)]
      : sampleLines(screen, samples)),
    "",
    "Each request prints a line below. Ctrl-C stops everything.",
    `ready ${url}`,
    `${paint("bold", "Console")} ${consoleUrl} (browser): look IDs up, change the table`,
  ].join("\n");
}

/** All samples by region with all commands, or one of each region with the first of them. */
function sampleLines(screen: Screen, samples: readonly Sample[]): readonly string[] {
  const { regions, isWhole, paint } = screen;
  const names = Object.keys(regions);
  if (!isWhole) {
    const firsts = names.flatMap((name) => samples.find(({ region }) => region === name) ?? []);
    const rows = firsts.map(({ region, entity, about, id }) => [region, entity, about, id]);
    return [
      `${paint("bold", "Sample IDs")}; npm start -- --samples prints all, with more to try`,
      ...columns(rows.slice(0, ROWS_SHOWN)),
      "",
      paint("bold", "Try it"),
      ...shortCommands(commandLines(screen, samples)),
    ];
  }
  const lines = columns(
    samples.map(({ entity, about, id }) => [entity, about, id]),
    "    ",
  );
  return [
    paint("bold", "Sample IDs"),
    ...names.flatMap((name) => [`  ${paint("cyan", name)}`, ...lines.filter((_, at) => samples[at]?.region === name)]),
    "",
    paint("bold", "Try it"),
    ...commandLines(screen, samples),
    ...switchLines(screen),
  ];
}

const COMMANDS_SHOWN = 2;

/** The first commands that fit one line of a terminal, each below what it shows. */
function shortCommands(lines: readonly string[]): readonly string[] {
  const fits = lines.flatMap((line, at) => (line.startsWith("  curl") && line.length <= COLUMNS ? [at] : []));
  return fits.length === 0
    ? lines.slice(0, 2)
    : fits.slice(0, COMMANDS_SHOWN).flatMap((at) => lines.slice(at - 1, at + 1));
}

/** The demo's table has all these entities; another table's first sample stands in. */
function commandLines({ url, isOpen, creates }: Screen, samples: readonly Sample[]): string[] {
  const [first] = samples;
  if (first === undefined) return ["  No sample: the table routes no ID that can be minted here. Use your own IDs."];
  const find = (entity: string) => samples.find((sample) => sample.entity === entity) ?? first;
  const order = find("order");
  const ride = find("ride");
  const parcel = find("parcel");
  const person = samples.find(({ shortPath }) => shortPath);
  const mint = order.mint && `-H 'content-type: application/json' -d '${JSON.stringify({ ...order.mint, count: 3 })}'`;
  const token = isOpen ? "" : '-H "authorization: Bearer $WAYBILL_TOKEN" ';
  const commands = [
    ["any ID, one URL", `-i ${url}/any/${parcel.id}`],
    ...createCommands(url, order, creates?.byEntity.get(order.entity)),
    ["the entity's own path, and below", `-i '${url}${order.path}'`],
    person && [`a ${person.entity} by short key`, `-i ${url}${person.shortPath}`],
    person && [`a ${person.entity} by full ID`, `-iL ${url}/any/${person.id}`],
    ["server-sent events", `-N '${url}${ride.path}/events?count=5'`],
    mint && [`mint three ${order.entity} IDs`, `-i ${url}/mint ${mint}`],
    ["what an ID says", `${token}${url}/-/ids/${ride.id}`],
    ride.entity !== order.entity && [
      `a wrong one: a ${ride.entity} is no ${order.entity}`,
      `-i ${url}${order.path.replace(order.id, ride.id)}`,
    ],
  ];
  return commands.flatMap((command) => (command ? [`  # ${command[0]}`, `  curl ${command[1]}`] : []));
}

const switchLines = ({ switchUrl, regions }: Screen): string[] =>
  switchUrl === undefined
    ? []
    : [
        `  # a region that is down, and up again (of ${Object.keys(regions).join(", ")}); the console shows it`,
        ...["down", "up"].map((state) => `  curl -X POST ${switchUrl}/${Object.keys(regions)[0]}/${state}`),
      ];

/** By the headers that the table reads the key from, with the sample's values. */
function createCommands(
  url: string,
  { entity, id, path, mint }: Sample,
  create: ReturnType<NonNullable<CompiledTable["creates"]>["byEntity"]["get"]>,
) {
  if (create === undefined || mint === undefined) return [];
  const fields = [...create.key].map(([field, sources]) => {
    const header = sources.flatMap((source) => (source.kind === "header" ? [source.header] : []))[0];
    return `-H '${header}: ${(mint as Readonly<Record<string, unknown>>)[field]}'`;
  });
  if (fields.some((field) => field.includes("undefined"))) return [];
  const post = `-i ${url}${create.paths[0]} ${fields.join(" ")} -H 'content-type: application/json'`;
  return [
    [`create: ${entity} gets its ID and its region`, `${post} -d '{"total": 42}'`],
    ["never twice: send it again", `${post} -H 'idempotency-key: my-first-one' -d '{"total": 42}'`],
    ...(create.clientId === undefined
      ? []
      : [
          [
            "with an ID that the client made (here by /mint)",
            `-i -X PUT ${url}${path.replace(id, `$(curl -s ${url}/mint -H 'accept: text/plain' -d '${JSON.stringify(mint)}')`)} -H 'if-none-match: *' -d '{"total": 42}'`,
          ],
        ]),
  ];
}
