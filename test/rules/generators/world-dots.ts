import { feature } from "topojson-client";
import atlas from "world-atlas/countries-50m.json" with { type: "json" };
import { codeOfArea } from "../../../src/console/app/words.ts";

/** The world as a grid of dots, each with its country, from the outlines of Natural Earth (public domain). */

const COLUMNS = 144;
const ROWS = 52;
const TOP = 83.5;
const BOTTOM = -57;

type Place = readonly [longitude: number, latitude: number];
type Ring = readonly Place[];

interface Country {
  readonly code: string;
  readonly rings: readonly Ring[];
}

/** Countries that the outlines count to another one, or lack. */
const OTHERS: readonly (readonly [code: string, longitude: number, latitude: number])[] = [
  ["BQ", -68.3, 12.2],
  ["BV", 3.4, -54.4],
  ["CC", 96.9, -12.2],
  ["CX", 105.7, -10.5],
  ["GF", -53.1, 4],
  ["GI", -5.4, 36.1],
  ["GP", -61.6, 16.2],
  ["MQ", -61, 14.7],
  ["RE", 55.5, -21.1],
  ["SJ", 16, 78.5],
  ["TK", -171.8, -9.2],
  ["TV", 179.2, -8.5],
  ["UM", -166.6, 19.3],
  ["YT", 45.2, -12.8],
];

const SEA = "--";
/** Land that has no ISO 3166-1 code. */
const NO_CODE = "__";

const longitudeOf = (column: number): number => -180 + ((column + 0.5) / COLUMNS) * 360;
const latitudeOf = (row: number): number => TOP - ((row + 0.5) / ROWS) * (TOP - BOTTOM);

function countries(): readonly Country[] {
  const topology = atlas as unknown as Parameters<typeof feature>[0];
  const { features } = feature(topology, topology.objects["countries"] as never) as unknown as {
    features: readonly {
      id?: string;
      geometry: { type: string; coordinates: readonly Ring[] | readonly (readonly Ring[])[] };
    }[];
  };
  return features.map(({ id, geometry: { type, coordinates } }) => ({
    code: id === undefined ? NO_CODE : codeOfArea(id),
    rings: (
      (type === "Polygon" ? coordinates : (coordinates as readonly (readonly Ring[])[]).flat()) as readonly Ring[]
    ).map(unrolled),
  }));
}

/** A ring over the date line goes on beyond the edge of the map. */
function unrolled(ring: Ring): Ring {
  let turn = 0;
  let before = ring[0]?.[0] ?? 0;
  return ring.map(([longitude, latitude]) => {
    if (longitude - before > 180) turn -= 360;
    if (before - longitude > 180) turn += 360;
    before = longitude;
    return [longitude + turn, latitude];
  });
}

/** Even-odd: a hole is a ring of its own. */
function isWithin(rings: readonly Ring[], longitude: number, latitude: number): boolean {
  let isIn = false;
  for (const ring of rings) {
    for (const [at, [x, y]] of ring.entries()) {
      const [beforeX, beforeY] = ring[(at + ring.length - 1) % ring.length] ?? [0, 0];
      if (y > latitude === beforeY > latitude) continue;
      if (longitude < ((beforeX - x) * (latitude - y)) / (beforeY - y) + x) isIn = !isIn;
    }
  }
  return isIn;
}

/** The middle of the largest ring. */
function middleOf({ rings }: Country): Place {
  const boxes = rings.map((ring) => {
    const [longitudes, latitudes] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
    const [west, east, south, north] = [
      Math.min(...longitudes),
      Math.max(...longitudes),
      Math.min(...latitudes),
      Math.max(...latitudes),
    ];
    return { size: (east - west) * (north - south), middle: [(west + east) / 2, (south + north) / 2] as const };
  });
  return boxes.toSorted((a, b) => b.size - a.size)[0]?.middle ?? [0, 0];
}

/** A country that has no dot takes the nearest one from the sea, or from a country that keeps others. */
function give(cells: string[], code: string, [longitude, latitude]: Place): void {
  const counts = new Map<string, number>();
  for (const owner of cells) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const isFree = (owner: string) => owner === SEA || owner === NO_CODE || (counts.get(owner) ?? 0) > 3;
  let nearest = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, owner] of cells.entries()) {
    if (!isFree(owner)) continue;
    const across = Math.abs(longitudeOf(at % COLUMNS) - longitude);
    // Land is a little farther than sea: islands stay islands.
    const away = Math.hypot(Math.min(across, 360 - across), latitudeOf(Math.floor(at / COLUMNS)) - latitude);
    const cost = owner === SEA ? away : away + 0.5;
    if (cost < least) [nearest, least] = [at, cost];
  }
  cells[nearest] = code;
}

/** Owners of the cells, row by row from the north-west. */
function cellsOf(known: readonly Country[]): readonly string[] {
  const cells = Array.from({ length: COLUMNS * ROWS }, (_, at) => {
    const [longitude, latitude] = [longitudeOf(at % COLUMNS), latitudeOf(Math.floor(at / COLUMNS))];
    return (
      known.find(({ rings }) => [0, 360, -360].some((turn) => isWithin(rings, longitude + turn, latitude)))?.code ?? SEA
    );
  });
  const small = known.filter(({ code }) => code !== NO_CODE && !cells.includes(code));
  for (const country of small) if (!cells.includes(country.code)) give(cells, country.code, middleOf(country));
  for (const [code, longitude, latitude] of OTHERS) if (!cells.includes(code)) give(cells, code, [longitude, latitude]);
  return cells;
}

/** Owners one after the other, each followed by how many cells it has in a row if it has more than one. */
function runsOf(cells: readonly string[]): string {
  let text = "";
  let from = 0;
  for (let at = 1; at <= cells.length; at++) {
    if (cells[at] === cells[from]) continue;
    text += `${cells[from]}${at - from === 1 ? "" : at - from}`;
    from = at;
  }
  return text;
}

export const worldDotsFile = (): { readonly path: string; readonly text: string } => ({
  path: "src/console/overview/map/world-dots.generated.ts",
  text: `/** Made by \`npm run generate\`. Rows from the north-west: ISO 3166-1 codes, each with its number of dots in a row. */
export const WORLD_DOTS = { columns: ${COLUMNS}, rows: ${ROWS}, runs: "${runsOf(cellsOf(countries()))}" };
`,
});
