import type { DemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";
import { type FaultyRegion, PATIENT } from "./faults/fault.ts";
import { type HostileOrigin, startHostileOrigin } from "./origin.ts";

/** A region for each fault, and the gateway before them all. */
export interface HostileStack extends Stack {
  readonly origins: ReadonlyMap<string, HostileOrigin>;
  /** An entity's path that leads to the region. */
  readonly pathTo: (region: string, entity?: EntityName) => string;
}

/** Bodies of boxes are kept until an answer begins, up to 1,000 bytes; those of parcels are not. */
export type EntityName = "parcel" | "box";

/** `deadlines`: of regions whose fault has none of its own. */
export async function startHostileStack(
  faults: readonly FaultyRegion[],
  deadlines: Readonly<Record<string, number>> = PATIENT,
): Promise<HostileStack> {
  const origins = new Map<string, HostileOrigin>();
  await Promise.all(faults.map(async ({ name, origin }) => origins.set(name, await startHostileOrigin(origin))));
  const regions = faults.map(({ name, url, region }): [string, DemoTable["regions"][string]] => {
    const origin = originOf(origins, name);
    const address = url?.(origin.port) ?? origin.url;
    return [name, { origins: [{ url: address }], breaker: false, deadlines, ...region }];
  });
  const declared: DemoTable = {
    regions: Object.fromEntries(regions),
    countries: {},
    entities: {
      // One fault's news of an entity's place must not be remembered when the next one is tried.
      parcel: { ...HOTGUID, path: "/parcel/:id", rememberMovedSeconds: 0 },
      box: { ...HOTGUID, path: "/box/:id", replayBytesMax: 1000 },
    },
    routes: faults.map(({ name }, index) => ({ when: { layout: "hotguid", shardKey: String(index) }, region: name })),
    moved: {},
  };
  const stack = await startStack(declared, { REPORT_SECONDS: "1" });
  const indexes = new Map(faults.map(({ name }, index) => [name, index]));
  const pathTo = (region: string, entity = "parcel") => `/${entity}/${idWith(indexes.get(region) ?? Number.NaN)}`;
  const stop = async () => {
    await stack.stop();
    await Promise.all([...origins.values()].map((origin) => origin.stop()));
  };
  return { ...stack, origins, pathTo, stop };
}

const HOTGUID = { ids: [{ layout: "hotguid" }] };

export function originOf(origins: ReadonlyMap<string, HostileOrigin>, name: string): HostileOrigin {
  const origin = origins.get(name);
  if (origin === undefined) throw new RangeError(`no origin ${name}`);
  return origin;
}

/** A HotGuid with the shard key, whose bytes come least significant first. */
export function idWith(shardKey: number): string {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(shardKey);
  return `6347eb00-bbaa-01cc-0201-0203${key.toString("hex")}`;
}
