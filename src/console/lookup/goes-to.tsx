import { RegionChip } from "../app/parts/region.tsx";
import { Mark } from "../app/parts/state.tsx";
import type { LookedUp } from "../app/typed.ts";

/** A verdict as one chip. */
export function GoesTo({ kind, code }: Pick<LookedUp, "kind" | "code">) {
  if (kind === "goes") return <RegionChip name={code} isBoxed />;
  const isRefused = kind === "refused";
  return (
    <Mark mood={isRefused ? "bad" : "plain"} icon={isRefused ? "bad" : "none"} isPill>
      {isRefused ? code : kind === "reads-as" ? "no ID" : "ask"}
    </Mark>
  );
}
