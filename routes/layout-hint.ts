import type { Result } from "../src/ids/result.ts";
import { hintNamed, type LayoutHint, type UnknownLayout, withoutPublic } from "../src/routing/index.ts";
import type { TableRequestContext } from "./receive.ts";

const FIELD = "id-layout";

/** The layout that the request says its ID has, for texts that several layouts can read. An error lists none that public entities alone have. */
export function layoutHint({ request, served }: TableRequestContext): Result<LayoutHint | undefined, UnknownLayout> {
  const name = request.headers.get(FIELD) ?? undefined;
  const hint = hintNamed(served.table, name);
  return hint.ok ? hint : hintNamed(withoutPublic(served.table), name);
}
