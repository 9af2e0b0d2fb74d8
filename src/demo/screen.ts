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
  readonly paint: Paint;
}

/** Where everything is, IDs to try, and commands to copy. */
export function formatScreen(screen: Screen): string {
  const { url, consoleUrl, tableName, regions, entities, withoutId, folder, samples, paint } = screen;
  const urlsOf = (origins: readonly { readonly url: string }[]) => origins.map((origin) => origin.url).join(", ");
  const originRows = Object.entries(regions).map(([name, { origins }]) => [name, urlsOf(origins)]);
  const sampleRows = (samples ?? []).map(({ entity, about, id }) => [entity, about, id]);
  const sampleLines = columns(sampleRows, "    ");
  const listOf = (title: string, owners: readonly Entity[]) => {
    const rows = owners.map(({ name, paths }) => [name, paths.join(", ")]);
    return rows.length === 0 ? [] : [paint("bold", title), ...columns(rows)];
  };
  const others = withoutId.map(({ entity }) => entity);
  return [
    "",
    `${paint("bold", "Console")} ${consoleUrl} for a browser: look IDs up, watch, change the table.`,
    `${paint("bold", "Waybill")} reads in an ID where a request belongs, and takes it there.`,
    "",
    ...columns([["gateway", url], ["table", tableName], ["state", folder], ...originRows]),
    "",
    ...(samples === undefined
      ? [...listOf("Entities", [...entities.values()]), ...listOf("Without an ID", others)]
      : [
          paint("bold", "Sample IDs"),
          ...Object.keys(regions).flatMap((name) => [
            `  ${paint("cyan", name)}`,
            ...sampleLines.filter((_, at) => samples?.[at]?.region === name),
          ]),
          "",
          paint("bold", "Try it"),
          ...commandLines(screen, samples),
          ...switchLines(screen),
        ]),
    "",
    "Each request prints a line below. Ctrl-C stops everything.",
    `ready ${url}`,
  ].join("\n");
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
    ...createCommands(url, order, creates?.byEntity.get(order.entity)),
    ["any ID, one URL", `-i ${url}/any/${parcel.id}`],
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
