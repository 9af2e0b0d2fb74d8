import type { Result } from "../src/ids/result.ts";
import { hintNamed, type LayoutHint, type UnknownLayout } from "../src/routing/index.ts";
import type { Received } from "./receive.ts";

const FIELD = "id-layout";

/** The layout that the request says its ID has, for texts that several layouts can read. */
export const layoutHint = ({ request, served }: Received): Result<LayoutHint | undefined, UnknownLayout> =>
  hintNamed(served.table, request.headers.get(FIELD) ?? undefined);
