import { useMemo } from "preact/hooks";
import { feature } from "topojson-client";
import atlas from "world-atlas/countries-110m.json";
import { iuid } from "../../ids/index.ts";
import type { KnownTable } from "../app/session.ts";
import { codeOfArea, countryName } from "../app/words.ts";
import type { Reader } from "../lookup/reader.ts";

/** The countries of the world, each in the colour of the region that its new IDs go to. Public domain: Natural Earth. */

type Ring = readonly (readonly [number, number])[];

interface Country {
  readonly code: string;
  readonly path: string;
}

const WIDTH = 960;
const HEIGHT = 430;
const TOP_LATITUDE = 84;
const BOTTOM_LATITUDE = -57;

/** Plate carrée: equal steps of longitude and latitude. */
const x = (longitude: number): number => ((longitude + 180) / 360) * WIDTH;
const y = (latitude: number): number => ((TOP_LATITUDE - latitude) / (TOP_LATITUDE - BOTTOM_LATITUDE)) * HEIGHT;

/** A ring over the date line goes on beyond the edge of the map, and once more on the other side. */
function pathOfRing(ring: Ring): string {
  let turn = 0;
  let before = ring[0]?.[0] ?? 0;
  const points = ring.map(([longitude, latitude]) => {
    if (longitude - before > 180) turn -= 360;
    if (before - longitude > 180) turn += 360;
    before = longitude;
    return [longitude + turn, latitude] as const;
  });
  const turns = new Set([0, ...points.map(([longitude]) => (longitude > 180 ? -360 : longitude < -180 ? 360 : 0))]);
  return [...turns]
    .map(
      (by) =>
        `M${points.map(([longitude, latitude]) => `${x(longitude + by).toFixed(1)} ${y(latitude).toFixed(1)}`).join("L")}Z`,
    )
    .join("");
}

const pathOf = (rings: readonly Ring[]): string => rings.map(pathOfRing).join("");

const topology = atlas as unknown as Parameters<typeof feature>[0];

const countries: readonly Country[] = (
  feature(topology, topology.objects["countries"] as never) as unknown as {
    features: readonly {
      id?: string;
      geometry: { type: string; coordinates: readonly Ring[] | readonly (readonly Ring[])[] };
    }[];
  }
).features.map(({ id = "", geometry: { type, coordinates } }) => ({
  code: codeOfArea(id),
  path: pathOf(
    (type === "Polygon" ? coordinates : (coordinates as readonly (readonly Ring[])[]).flat()) as readonly Ring[],
  ),
}));

/** Where a new ID of each country of the table would go, read as the gateway reads it. */
export function regionByCountry(reader: Reader, { declared }: KnownTable, nowMs: number): ReadonlyMap<string, string> {
  const entity = Object.values(declared.entities ?? {}).find(({ ids }) =>
    ids.some(({ layout }) => layout === iuid.name),
  );
  const service = entity?.ids.find(({ layout }) => layout === iuid.name)?.service ?? 0;
  const regions = new Map<string, string>();
  for (const [code, country] of Object.entries(declared.countries ?? {})) {
    const words = iuid.encode({ mintedAt: nowMs, country, service, random: 1n });
    const id = words.ok ? iuid.format(words.value) : "";
    const region = reader.read({ source: id, id, path: undefined }, nowMs).decision?.region;
    if (region !== undefined) regions.set(code, region);
  }
  return regions;
}

export default function WorldMap({
  reader,
  table,
  names,
  figures,
}: {
  reader: Reader;
  table: KnownTable;
  names: readonly string[];
  /** In words, by region. */
  figures: ReadonlyMap<string, string>;
}) {
  const byCountry = useMemo(() => regionByCountry(reader, table, Date.now()), [reader, table]);
  const grouped = Map.groupBy(byCountry, ([, region]) => region);
  return (
    <figure class="map">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Regions by country; the list below has the same">
        {countries.map(({ code, path }) => {
          const region = byCountry.get(code);
          const colour = region === undefined ? "none" : `${names.indexOf(region) % 8}`;
          return (
            <path key={code + path.slice(0, 20)} d={path} class={`land colour-${colour}`}>
              <title>{[countryName(code), region, region && figures.get(region)].filter(Boolean).join(": ")}</title>
            </path>
          );
        })}
      </svg>
      <figcaption>
        <p>Where new IDs of each country of the table go.</p>
        <ul class="legend">
          {names.map((region, at) => (
            <li key={region}>
              <span class={`key colour-${at % 8}`} aria-hidden="true" />
              <span>
                <strong>{region}</strong>:{" "}
                {grouped
                  .get(region)
                  ?.map(([code]) => countryName(code))
                  .join(", ") ?? "no country"}
                <br />
                <small>{figures.get(region) ?? "no request counted"}</small>
              </span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
