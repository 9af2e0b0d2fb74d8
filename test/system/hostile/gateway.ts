import type { DemoTable } from "../../../src/demo/demo-table.ts";
import { type Stack, startStack } from "../stack.ts";
import { type Fault, PATIENT } from "./fault.ts";
import { type HostileOrigin, startHostileOrigin } from "./origin.ts";

/** A region for each fault, and the gateway before them all. */
export interface HostileStack extends Stack {
  readonly origins: ReadonlyMap<string, HostileOrigin>;
  /** An entity's path that leads to the region. */
  readonly pathTo: (region: string) => string;
}

export async function startHostileStack(faults: readonly Fault[]): Promise<HostileStack> {
  const origins = new Map<string, HostileOrigin>();
  await Promise.all(faults.map(async ({ name, origin }) => origins.set(name, await startHostileOrigin(origin))));
  const regions = faults.map(({ name, url, region }) => {
    const origin = originOf(origins, name);
    const address = url?.(origin.port) ?? origin.url;
    return [name, { origins: [{ url: address }], breaker: false, deadlines: PATIENT, ...region }] as const;
  });
  const declared: DemoTable = {
    regions: Object.fromEntries(regions),
    countries: {},
    // What one fault says of an entity's place must not be remembered when the next one is tried.
    entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }], ...{ rememberMovedSeconds: 0 } } },
    routes: faults.map(({ name }, index) => ({ when: { layout: "hotguid", shardKey: String(index) }, region: name })),
    moved: {},
  };
  const stack = await startStack(declared);
  const indexes = new Map(faults.map(({ name }, index) => [name, index]));
  const stop = async () => {
    await stack.stop();
    await Promise.all([...origins.values()].map((origin) => origin.stop()));
  };
  return { ...stack, origins, pathTo: (region) => `/parcels/${idWith(indexes.get(region) ?? Number.NaN)}`, stop };
}

export function originOf(origins: ReadonlyMap<string, HostileOrigin>, name: string): HostileOrigin {
  const origin = origins.get(name);
  if (origin === undefined) throw new RangeError(`no origin ${name}`);
  return origin;
}

/** A HotGuid with the shard key, whose octets come least significant first. */
function idWith(shardKey: number): string {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(shardKey);
  return `6347eb00-bbaa-01cc-0201-0203${key.toString("hex")}`;
}
