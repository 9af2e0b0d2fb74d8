import { iso31661 } from "iso-3166";
import { fieldOf, hotguid } from "../../src/ids/index.ts";
import { REGION_NAMES } from "./keys.ts";

/** Declared tables of a given size. */

const regionOf = (at: number): string => REGION_NAMES[at % REGION_NAMES.length] ?? "";

/** One origin for all regions: the gateway is measured, not the network. */
const regionsAt = (originUrl: string) =>
  Object.fromEntries(REGION_NAMES.map((region) => [region, { origins: [{ url: originUrl }] }]));

/** HotGuids by contiguous ranges of the shard key, which cover the whole key space. */
export function shardKeyTable(routeCount: number) {
  const keys = 2 ** fieldOf(hotguid, "shardKey").bits;
  const start = (at: number) => Math.floor((at * keys) / routeCount);
  return {
    regions: regionsAt("http://origin.test"),
    entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
    routes: Array.from({ length: routeCount }, (_, at) => ({
      when: { shardKey: `${start(at)}-${start(at + 1) - 1}` },
      region: regionOf(at),
    })),
  };
}

/** iUIDs by country and service, one route per pair. */
export function countryServiceTable(countryCount: number, serviceCount: number, originUrl = "http://origin.test") {
  const countries = Object.fromEntries(iso31661.slice(0, countryCount).map(({ alpha2 }, at) => [alpha2, at]));
  const services = Array.from({ length: serviceCount }, (_, service) => service);
  return {
    regions: regionsAt(originUrl),
    countries,
    entities: Object.fromEntries(
      services.map((service) => [`kind-${service}`, { path: kindPath(service), ids: [{ layout: "iuid", service }] }]),
    ),
    routes: Object.values(countries).flatMap((number) =>
      services.map((service) => ({
        when: { layout: "iuid", country: iso31661[number]?.alpha2 ?? "", service },
        region: regionOf(number + service),
      })),
    ),
  };
}

/** Ten entities, each with a layout of 128 bits of its own and a route. Fixed bits tell the layouts apart. */
export function textsTable(textAt: (at: number) => unknown) {
  const all = Array.from({ length: 10 }, (_, at) => at);
  return {
    regions: regionsAt("http://origin.test"),
    entities: Object.fromEntries(
      all.map((at) => [`kind-${at}`, { path: kindPath(at), ids: [{ layout: `own-${at}` }] }]),
    ),
    layouts: Object.fromEntries(
      all.map((at) => [
        `own-${at}`,
        {
          rows: [
            { field: "mintedAt", bits: 48, role: "time", unit: "ms", epoch: "1970-01-01T00:00:00Z" },
            { field: "format", bits: 8, role: "fixed", value: at },
            { field: "shardKey", bits: 8, role: "key" },
            { field: "random", bits: 64, role: "random" },
          ],
          text: textAt(at),
        },
      ]),
    ),
    routes: all.map((at) => ({ when: { layout: `own-${at}`, shardKey: "0-255" }, region: regionOf(at) })),
  };
}

/** Path pattern of a service's entity. */
export const kindPath = (service: number): string => `/kind-${service}/:id`;
