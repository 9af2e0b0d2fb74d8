import { judgeRegion, type ObservedOrigin, type RegionState } from "../../formats/region-state.ts";
import type { DeclaredRegion, DeclaredTable } from "../../routing/schema/table.ts";
import { agoText, clockText, countryName, msText } from "../app/words.ts";
import type { Origin } from "../lookup/ask.ts";

/** Regions and their origins in words. Pure. */

/** Countries whose IDs a route leads there, as the routes say in their order; later ones may name more. */
export function countriesOf({ routes }: DeclaredTable, region: string): readonly string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  for (const { when, region: to } of routes) {
    const isWhole = when.mintedFrom === undefined && when.mintedBefore === undefined;
    for (const code of [when.country ?? []].flat()) {
      if (to === region && !seen.has(code)) found.push(countryName(code));
      if (isWhole) seen.add(code);
    }
  }
  return [...new Set(found)];
}

/** How many routes lead there, the default among them. */
export const routesTo = ({ routes, default: fallback }: DeclaredTable, region: string): number =>
  routes.filter((route) => route.region === region || Object.values(route.split?.regions ?? {}).includes(region))
    .length + (fallback === region ? 1 : 0);

export interface OriginRow {
  readonly url: string;
  readonly weight: number;
  readonly state: RegionState | "drained" | "not-known";
  readonly evidence: string;
}

/** Declared origins with what the gateway knows of each; `known`: in the same order, absent where it said nothing. */
export function originRows(
  { origins }: DeclaredRegion,
  known: readonly Origin[] | undefined,
  nowMs: number,
): readonly OriginRow[] {
  return origins.map(({ url, weight = 1 }) => {
    const host = hostOf(url);
    const own = known?.find((origin) => origin.host === host);
    return { url, weight, ...factsOf(weight, own, nowMs) };
  });
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function factsOf(weight: number, own: Origin | undefined, nowMs: number): Pick<OriginRow, "state" | "evidence"> {
  if (own === undefined) return { state: "not-known", evidence: "The gateway said nothing of it." };
  if (weight === 0) return { state: "drained", evidence: "Its weight is 0: it gets no requests." };
  const { state } = judgeRegion([observed(own)], undefined, nowMs);
  return { state, evidence: evidenceOf(own, nowMs) };
}

const observed = ({ weight, breaker, lastFault, lastAnswer, lastCheck }: Origin): ObservedOrigin => ({
  weight,
  breaker: breaker as ObservedOrigin["breaker"],
  lastFault: lastFault === null ? undefined : { atMs: Date.parse(lastFault.at) },
  lastAnswerAtMs: lastAnswer === null ? undefined : Date.parse(lastAnswer),
  lastCheck: lastCheck === null ? undefined : { atMs: Date.parse(lastCheck.at), isGood: lastCheck.good },
});

function evidenceOf({ breaker, openUntil, lastFault, lastAnswer, lastCheck }: Origin, nowMs: number): string {
  const told = [
    breaker === "open" &&
      `It gets no requests${openUntil === null ? "" : ` until ${clockText(Date.parse(openUntil) / 1000, true)}`}: its circuit breaker is open.`,
    breaker === "half-open" && "One request at a time goes there: its circuit breaker is half open.",
    lastCheck && `Check: ${lastCheck.status ?? lastCheck.fault ?? "no answer"}, ${agoText(lastCheck.at, nowMs)}.`,
    lastFault &&
      isLater(lastFault.at, lastAnswer) &&
      `Last fault: ${lastFault.fault.replaceAll("-", " ")}, ${agoText(lastFault.at, nowMs)}.`,
    lastAnswer && `It answered ${agoText(lastAnswer, nowMs)}.`,
  ].filter((text) => typeof text === "string");
  return told.length === 0 ? "It was not asked yet." : told.join(" ");
}

const isLater = (a: string, b: string | null): boolean => b === null || Date.parse(a) > Date.parse(b);

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
