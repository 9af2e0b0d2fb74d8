/** Key `at` of the benchmark: a UUIDv4 by its looks, another one for each number. */
export function keyAt(at: number): string {
  const mixed = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d) >>> 0;
  const low = at.toString(16).padStart(12, "0");
  return `${mixed.toString(16).padStart(8, "0")}-7a30-4005-8040-${low}`;
}

export const regionAt = (at: number): string => REGIONS[at % REGIONS.length] as string;

export const REGIONS = ["eu", "us", "ap"] as const;

export const DIRECTORY = "old";
