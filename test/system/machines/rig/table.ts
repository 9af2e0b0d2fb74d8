/** The table of the trials, and what an ID of it says. Written apart from the product, so that it can judge it. */

export const REGIONS = ["eu", "us", "ap"] as const;
export type Region = (typeof REGIONS)[number];

const COUNTRIES: Readonly<Record<string, readonly [number, Region]>> = {
  KZ: [5, "ap"],
  UZ: [6, "ap"],
  BR: [7, "us"],
  MX: [8, "us"],
  DE: [9, "eu"],
  PL: [10, "eu"],
};
export const COUNTRY_CODES: readonly string[] = Object.keys(COUNTRIES);

/** Service of the entity that publications move between two regions. */
const PROBE_SERVICE = 2;
export const PROBE_ID = iuid("DE", PROBE_SERVICE, 1_780_000_000_000, 1);

export interface TableOptions {
  readonly origins: Readonly<Record<Region, string>>;
  /** Where the probe goes. */
  readonly probeTo: Region;
  /** How long a key is held by an attempt of which nothing was heard. */
  readonly leaseSeconds?: number | undefined;
  /** Parcels go by these packs or routes. */
  readonly parcels?:
    | { readonly packs?: Readonly<Record<string, unknown>>; readonly routes: readonly unknown[] }
    | undefined;
}

export function trialTable({ origins, probeTo, leaseSeconds = 60, parcels }: TableOptions) {
  const codesOf = (region: Region) => COUNTRY_CODES.filter((code) => COUNTRIES[code]?.[1] === region);
  return {
    regions: Object.fromEntries(REGIONS.map((region) => [region, { origins: [{ url: origins[region] }] }])),
    countries: Object.fromEntries(Object.entries(COUNTRIES).map(([code, [number]]) => [code, number])),
    entities: {
      order: {
        path: "/orders/:id",
        ids: [{ layout: "iuid", service: 1 }],
        create: { key: { country: { header: "x-country" } }, idempotency: { leaseSeconds, keepAnswer: {} } },
      },
      probe: { path: "/probes/:id", ids: [{ layout: "iuid", service: PROBE_SERVICE }] },
      person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
      ...(parcels === undefined ? {} : { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } }),
    },
    ...(parcels?.packs === undefined ? {} : { packs: parcels.packs }),
    routes: [
      { when: { layout: "iuid", service: PROBE_SERVICE }, region: probeTo },
      ...REGIONS.map((region) => ({ when: { layout: "iuid", country: codesOf(region), service: 1 }, region })),
      { when: { entity: "person" }, region: "eu" },
      ...(parcels?.routes ?? []),
    ],
  };
}

/** An iUID: 48 bits of time, version 8, format 0, 8 bits of country, variant 2, 8 bits of service, random bits. */
export function iuid(country: string, service: number, timeMs: number, random: number): string {
  const [number] = COUNTRIES[country] ?? [0];
  const time = timeMs.toString(16).padStart(12, "0");
  const last = ((0x8000 | (service << 6)) & 0xffff).toString(16);
  const tail = Math.floor(random).toString(16).padStart(12, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-80${number.toString(16).padStart(2, "0")}-${last}-${tail}`;
}

/** A HotGuid: its last 4 bytes are the shard key, the least first. */
export function hotguidOf(shardKey: number, random: number): string {
  const digits = Math.floor(random).toString(16).padStart(16, "0").slice(-16);
  const key = swapped(shardKey.toString(16).padStart(8, "0"));
  return `6955b900-${digits.slice(0, 4)}-${digits.slice(4, 8)}-${digits.slice(8, 12)}-${digits.slice(12)}${key}`;
}

const swapped = (digits: string): string => (digits.match(/../g) ?? []).toReversed().join("");

/** Every hundredth shard key moves with each publication; the others never do. */
export const isFixedKey = (shardKey: number): boolean => shardKey % 100 !== 0;

/** Region of a parcel by its shard key. `round`: of the keys that move. */
export const regionOfKey = (shardKey: number, round = 0): Region =>
  REGIONS[(shardKey + (isFixedKey(shardKey) ? 0 : round)) % REGIONS.length] as Region;

/** Region of a parcel whose key never moves; `undefined` for another's. */
export function regionOfParcel(id: string): Region | undefined {
  const key = Number.parseInt(swapped(/^[0-9a-f-]{28}([0-9a-f]{8})$/.exec(id)?.[1] ?? ""), 16);
  return isFixedKey(key) ? regionOfKey(key) : undefined;
}

/** Region of an order by its ID; `undefined` for another entity's, or a country that there is not. */
export function regionOfOrder(id: string): Region | undefined {
  const [, country = "", last = ""] =
    /^[0-9a-f]{8}-[0-9a-f]{4}-80([0-9a-f]{2})-([0-9a-f]{4})-[0-9a-f]{12}$/.exec(id) ?? [];
  const service = (Number.parseInt(last, 16) >> 6) & 0xff;
  if (service !== 1) return undefined;
  return Object.values(COUNTRIES).find(([number]) => number === Number.parseInt(country, 16))?.[1];
}
