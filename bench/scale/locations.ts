import type { Inputs } from "./inputs.ts";

/** One location of the edge, with the traffic that it gets and the isolates that share it. */
export interface Location {
  readonly requestsPerSecond: number;
  readonly isolates: number;
  readonly isolateRequestsPerSecond: number;
}

/** The busiest first: shares by Zipf's law, and as many isolates as their load asks for, one at least. */
export function locationsOf(inputs: Inputs): readonly Location[] {
  const { requestsPerSecond, locations, zipfExponent, isolateRequestsPerSecond } = inputs;
  const weights = Array.from({ length: locations }, (_, at) => (at + 1) ** -zipfExponent);
  const sum = weights.reduce((before, weight) => before + weight, 0);
  return weights.map((weight) => {
    const own = (requestsPerSecond * weight) / sum;
    const isolates = Math.max(1, Math.ceil(own / isolateRequestsPerSecond));
    return { requestsPerSecond: own, isolates, isolateRequestsPerSecond: own / isolates };
  });
}

export const sumOver = (locations: readonly Location[], figure: (location: Location) => number): number =>
  locations.reduce((sum, location) => sum + figure(location), 0);

export const isolatesOf = (locations: readonly Location[]): number => sumOver(locations, ({ isolates }) => isolates);
