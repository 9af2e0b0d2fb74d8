import type { RunningOrigins } from "./origins.ts";
import type { Paint } from "./request-line.ts";
import type { Sample } from "./samples.ts";

export interface Screen {
  readonly url: string;
  readonly origins: RunningOrigins;
  readonly samples: readonly Sample[];
  readonly paint: Paint;
}

/** What the demo prints once it serves: where it is, IDs to try, and commands to copy. */
export function screenText(screen: Screen): string {
  const { url, origins, paint } = screen;
  return [
    "",
    `${paint("bold", "Waybill")} reads in an ID where a request belongs, and takes it there.`,
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

function sampleLines({ samples, origins, paint }: Screen): string[] {
  return origins.all.flatMap(({ region }) => [
    `  ${paint("cyan", region)}`,
    ...samples
      .filter((sample) => sample.region === region)
      .map(({ entity, about, id }) => `    ${entity.padEnd(8)}${about.padEnd(18)}${id}`),
  ]);
}

function commandLines({ url, samples }: Screen): string[] {
  const first = (entity: string): Sample => {
    const sample = samples.find((candidate) => candidate.entity === entity);
    if (sample === undefined) throw new Error(`the demo has no sample of ${entity}`);
    return sample;
  };
  const [order, ride, parcel, person] = [first("order"), first("ride"), first("parcel"), first("person")];
  const json = "-H 'content-type: application/json'";
  const commands: readonly (readonly [string, string])[] = [
    ["any ID, one URL", `curl -i ${url}/any/${parcel.id}`],
    ["the entity's own path, and below", `curl -i '${url}${order.path}'`],
    ["a person by short key", `curl -i ${url}${person.shortPath ?? person.path}`],
    ["a person by full ID: redirected", `curl -iL ${url}/any/${person.id}`],
    ["server-sent events", `curl -N '${url}${ride.path}/events?count=5'`],
    ["mint three order IDs", `curl -i ${url}/mint ${json} -d '{"entity":"order","country":"KZ","count":3}'`],
    ["what an ID says", `curl ${url}/-/ids/${ride.id}`],
    ["a wrong one: a ride is no order", `curl -i ${url}${order.path.replace(order.id, ride.id)}`],
  ];
  return commands.flatMap(([about, command]) => [`  # ${about}`, `  ${command}`]);
}
