import type { DeclaredRegion, DeclaredTable } from "../../../routing/schema/table.ts";
import { countryName, msText } from "../../app/words.ts";
import type { Origin } from "../../lookup/ask.ts";
import { type OriginState, originEvidence, originState } from "../../overview/origins.ts";

/** Regions and their origins in words. Pure. */

/** Countries whose IDs go there whenever they were minted, by the first route that names each; in the order of the table. */
export function countriesOf({ routes, countries = {} }: DeclaredTable, region: string): readonly string[] {
  const seen = new Set<string>();
  const found = new Set<string>();
  for (const { when, region: to } of routes) {
    const isWhole = when.mintedFrom === undefined && when.mintedBefore === undefined;
    for (const code of [when.country ?? []].flat()) {
      if (isWhole && to === region && !seen.has(code)) found.add(code);
      if (isWhole) seen.add(code);
    }
  }
  return Object.keys(countries)
    .filter((code) => found.has(code))
    .map(countryName);
}

/** How many routes lead there, the default among them. */
export const routesTo = ({ routes, default: fallback }: DeclaredTable, region: string): number =>
  routes.filter((route) => route.region === region || Object.values(route.split?.regions ?? {}).includes(region))
    .length + (fallback === region ? 1 : 0);

export interface OriginRow {
  readonly url: string;
  readonly weight: number;
  readonly state: OriginState | "not-known";
  readonly evidence: string;
}

/** Declared origins with what the gateway knows of each; `known`: absent where it said nothing. */
export function originRows(
  { origins }: DeclaredRegion,
  known: readonly Origin[] | undefined,
  nowMs: number,
): readonly OriginRow[] {
  return origins.map(({ url, weight = 1 }) => {
    const own = known?.find(({ host }) => host === hostOf(url));
    if (own === undefined) return { url, weight, state: "not-known", evidence: "the gateway said nothing of it yet" };
    return { url, weight, state: originState(own, nowMs), evidence: originEvidence(own, nowMs) };
  });
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** The settings of a region that are not what every region has. */
export function settingsOf(region: DeclaredRegion): readonly (readonly [string, string])[] {
  const { health, breaker, deadlines, gateway, failoverWrites } = region;
  return [
    [
      "Checks",
      health === undefined
        ? "none"
        : `GET ${health.path}${health.timeoutMs === undefined ? "" : ` within ${msText(health.timeoutMs)}`}`,
    ],
    ...(breaker === undefined
      ? []
      : ([
          [
            "Circuit breaker",
            breaker === false
              ? "none"
              : `opens after ${breaker.failures ?? 5} failures, for ${msText(breaker.openMs ?? 10_000)}`,
          ],
        ] as const)),
    ...(deadlines?.firstByteMs === undefined
      ? []
      : ([["Waits for an answer", msText(deadlines.firstByteMs)]] as const)),
    ...(gateway === undefined ? [] : ([["Gateway of the mesh", gateway]] as const)),
    ...(failoverWrites === true ? ([["Failover", "takes writes too that are safe to repeat"]] as const) : []),
  ];
}
