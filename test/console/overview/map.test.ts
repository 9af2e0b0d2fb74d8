import { describe, expect, it } from "vitest";
import atlas from "world-atlas/countries-50m.json" with { type: "json" };
import { codeOfArea } from "../../../src/console/app/words.ts";
import { runsOf } from "../../../src/console/overview/map/countries.ts";
import { WORLD_DOTS } from "../../../src/console/overview/map/world-dots.generated.ts";

const RUNS = runsOf(WORLD_DOTS);
const CODES = new Set(RUNS.map(({ code }) => code));

describe("the map of dots", () => {
  it("has a dot for each country, however small", () => {
    const outlined = atlas.objects.countries.geometries.flatMap(({ id }) => (id === undefined ? [] : [codeOfArea(id)]));
    expect(outlined.length).toBeGreaterThan(230);
    expect(outlined.filter((code) => !CODES.has(code))).toEqual([]);
    // The outlines count these to other countries, or lack them.
    expect(["GF", "GI", "GP", "MQ", "RE", "SJ", "TV", "YT"].filter((code) => !CODES.has(code))).toEqual([]);
  });

  it.each([
    ["DE", 190, 50],
    ["BR", 130, -10],
    ["SG", 283.8, 1.3],
    ["NZ", 352, -43],
  ])("has %s in its place", (code, east, latitude) => {
    const places = RUNS.filter((run) => run.code === code).map(({ path }) =>
      /^M(\d+) (\d+)h/.exec(path)?.slice(1).map(Number),
    );
    const nearby = places.filter(
      (place) =>
        Math.abs((place?.[0] ?? 0) - (east / 360) * 576) < 24 &&
        Math.abs((place?.[1] ?? 0) - ((83.5 - latitude) / 140.5) * 208) < 16,
    );
    expect(nearby.length).toBeGreaterThan(0);
  });

  it("goes on in the next row", () => {
    expect(runsOf({ columns: 4, runs: "--2DE3--FR2" })).toEqual([
      { code: "DE", path: "M10 2h4" },
      { code: "DE", path: "M2 6h0.01" },
      { code: "FR", path: "M10 6h4" },
    ]);
  });
});
