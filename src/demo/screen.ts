import type { CompiledTable } from "../routing/index.ts";
import type { RunningOrigins } from "./origins.ts";
import type { Paint } from "./request-line.ts";
import type { Sample } from "./sample.ts";

export interface Screen {
  readonly url: string;
  readonly origins: RunningOrigins;
  readonly samples: readonly Sample[];
  /** Whether the gateway's own pages ask for no token. */
  readonly isOpen: boolean;
  readonly paint: Paint;
}

const HEADLINE = "reads in an ID where a request belongs, and takes it there.";

/** What the demo prints once it serves: where it is, IDs to try, and commands to copy. */
export function formatScreen(screen: Screen): string {
  const { url, origins, paint } = screen;
  return [
    "",
    `${paint("bold", "Waybill")} ${HEADLINE}`,
    "",
    `  ${"gateway".padEnd(9)}${url}`,
    ...origins.all.map((origin) => `  ${origin.region.padEnd(9)}${paint("dim", origin.url)}`),
    "",
    paint("bold", "Sample IDs"),
    ...sampleLines(screen),
    "",
    paint("bold", "Try it"),
    ...commandLines(screen),
    "",
    `Each request prints a line below. Ctrl-C ends all of it.`,
    `ready ${url}`,
  ].join("\n");
}

export interface OwnScreen {
  readonly url: string;
  readonly tableName: string;
  readonly table: CompiledTable;
  /** Where the gateway keeps its state. */
  readonly folder: string;
  readonly paint: Paint;
}

/** What a gateway in front of other origins than the demo's prints: what it serves, and where its files are. */
export function formatOwnScreen({ url, tableName, table, folder, paint }: OwnScreen): string {
  const regions = [...table.regions.values()].map(
    ({ name, origins }) => [name, origins.map((origin) => origin.url).join(", ")] as const,
  );
  const entities = [...table.entities.values()].map(({ name, paths }) => [name, paths.join(", ")] as const);
  const width = 2 + Math.max(...[...regions, ...entities].map(([name]) => name.length), "gateway".length);
  const line = ([name, what]: readonly [string, string]) => `  ${name.padEnd(width)}${what}`;
  return [
    "",
    `${paint("bold", "Waybill")} ${HEADLINE}`,
    "",
    line(["gateway", url]),
    line(["table", tableName]),
    line(["state", folder]),
    "",
    paint("bold", "Regions"),
    ...regions.map(line),
    "",
    paint("bold", "Entities"),
    ...entities.map(line),
    "",
    "Each request prints a line below. Ctrl-C ends it.",
    `ready ${url}`,
  ].join("\n");
}

/** The demo's own samples stand where they always stood. */
const ABOUT_WIDTH_MIN = 20;

function sampleLines({ samples, origins, paint }: Screen): string[] {
  const width = 2 + Math.max(ABOUT_WIDTH_MIN, ...samples.map(({ about }) => about.length));
  return origins.all.flatMap(({ region }) => [
    `  ${paint("cyan", region)}`,
    ...samples
      .filter((sample) => sample.region === region)
      .map(({ entity, about, id }) => `    ${entity.padEnd(8)}${about.padEnd(width)}${id}`),
  ]);
}

/** Commands for the entities that the table has: the demo's own has them all. */
function commandLines({ url, samples, isOpen }: Screen): string[] {
  const [first] = samples;
  if (first === undefined) return ["  The table mints no IDs here whose region it names; bring some of your own."];
  const find = (entity: string) => samples.find((sample) => sample.entity === entity) ?? first;
  const [order, ride, parcel] = [find("order"), find("ride"), find("parcel")];
  const person = samples.find(({ shortPath }) => shortPath !== undefined);
  const json = "-H 'content-type: application/json'";
  const commands: (readonly [string, string])[] = [
    ["any ID, one URL", `curl -i ${url}/any/${parcel.id}`],
    ["the entity's own path, and below", `curl -i '${url}${order.path}'`],
  ];
  if (person?.shortPath !== undefined) {
    commands.push([`a ${person.entity} by short key`, `curl -i ${url}${person.shortPath}`]);
    commands.push([`a ${person.entity} by full ID`, `curl -iL ${url}/any/${person.id}`]);
  }
  commands.push(["server-sent events", `curl -N '${url}${ride.path}/events?count=5'`]);
  const { country, layout, fields } = order;
  if (country !== undefined || fields !== undefined) {
    const keys = country === undefined ? { layout, fields } : { country };
    const request = JSON.stringify({ entity: order.entity, ...keys, count: 3 });
    commands.push([`mint three ${order.entity} IDs`, `curl -i ${url}/mint ${json} -d '${request}'`]);
  }
  commands.push([
    "what an ID says",
    `curl ${isOpen ? "" : '-H "authorization: Bearer $WAYBILL_TOKEN" '}${url}/-/ids/${ride.id}`,
  ]);
  if (ride.entity !== order.entity) {
    const path = order.path.replace(order.id, ride.id);
    commands.push([`a wrong one: a ${ride.entity} is no ${order.entity}`, `curl -i ${url}${path}`]);
  }
  return commands.flatMap(([about, command]) => [`  # ${about}`, `  ${command}`]);
}
