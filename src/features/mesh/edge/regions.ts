import { writeEvent } from "../../../edge/log.ts";
import type { CompiledTable, Origin, Region } from "../../../routing/table.ts";
import type { Mesh } from "../port.ts";
import { digests } from "../serve/fields.ts";

/** A new revision of the same text has the same regions. */
const fitted = new WeakSet<CompiledTable["regions"]>();

/** Regions that are not this deployment's are asked by their gateway. All copies of a region have the one list. */
export function fitRegions(
  { regions, revision, verified }: CompiledTable,
  digest: string | undefined,
  mesh: Mesh,
): void {
  if (fitted.has(regions)) return;
  fitted.add(regions);
  if (digest !== undefined) digests.set(regions, digest);
  for (const region of [...regions.values(), ...(verified?.regions.values() ?? [])]) fitRegion(region, mesh);
  const unknown = [...mesh.selfRegions].filter((name) => !regions.has(name));
  if (unknown.length > 0) writeEvent("self-regions-unknown", { revision, regions: unknown }, "error");
}

function fitRegion({ name, gateway, servers }: Region, { selfRegions }: Mesh): void {
  if (gateway === undefined || selfRegions.has(name)) return;
  const peer: Origin = Object.freeze({ url: gateway, weight: 1, binding: undefined, isPeer: true });
  (servers as Origin[]).splice(0, servers.length, peer);
}
