import { useMemo } from "preact/hooks";
import { RegionChip, regionClass } from "../../app/parts/region.tsx";
import { Mark } from "../../app/parts/state.tsx";
import { countryName } from "../../app/words.ts";
import { STEP, WORLD_RUNS } from "./countries.ts";
import { WORLD_DOTS } from "./world-dots.generated.ts";

/** The countries of the world as dots, each in the colour of the region that its new IDs go to. */

interface MapProps {
  readonly names: readonly string[];
  readonly byCountry: ReadonlyMap<string, string>;
  /** Regions that are down. */
  readonly down: ReadonlySet<string>;
}

/** Land in grey, and the countries of the table by region; the list below says the same. */
export function WorldMap({ names, byCountry, down }: MapProps) {
  const paths = useMemo(() => Map.groupBy(WORLD_RUNS, ({ code }) => byCountry.get(code) ?? ""), [byCountry]);
  const pathsOf = (region: string) =>
    paths
      .get(region)
      ?.map(({ path }) => path)
      .join("");
  const countries = Map.groupBy(byCountry, ([, region]) => region);
  return (
    <>
      <svg
        class="dots"
        viewBox={`0 0 ${WORLD_DOTS.columns * STEP} ${WORLD_DOTS.rows * STEP}`}
        role="img"
        aria-label="Countries of the table by region; the list below says the same"
      >
        <path class="land" d={pathsOf("")} />
        {names.map((region) => (
          <path key={region} class={down.has(region) ? "down" : regionClass(region)} d={pathsOf(region)} />
        ))}
      </svg>
      <ul class="map-key">
        {names.map((region) => (
          <li key={region}>
            <RegionChip name={region} />
            <span>
              {countries
                .get(region)
                ?.map(([code]) => countryName(code))
                .join(", ") ?? "no country"}{" "}
              {down.has(region) && (
                <Mark mood="bad" icon="bad">
                  no answer
                </Mark>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
