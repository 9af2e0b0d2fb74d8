import { canonical } from "../../routing/diff/key-space.ts";
import { diffTables } from "../../routing/index.ts";
import type { DeclaredRoute, DeclaredTable } from "../../routing/schema/table.ts";
import { readText } from "../routing/check-text.ts";
import { editedTo } from "./text/json-edit.ts";
import { hunksOf } from "./text/sequences.ts";

/** The change for IDs alone that are minted from a moment on: older ones keep the routes of the table before. Pure. */

export type OnlyNew =
  | { readonly ok: true; readonly text: string; readonly table: DeclaredTable }
  /** A sentence: why it cannot be. */
  | { readonly ok: false; readonly why: string };

const MINUTE_MS = 60_000;

/** Every isolate and machine must have the table by then, with time to read the window before. */
const AHEAD_MINUTES = 10;

/** A table with a moment nearer than this is not sent: the moment is chosen again. */
export const AHEAD_MS_MIN = 4 * MINUTE_MS;

/** The next full five minutes that leave time for the publication, Unix ms. */
export const momentAfter = (nowMs: number): number =>
  Math.ceil((nowMs + AHEAD_MINUTES * MINUTE_MS) / (5 * MINUTE_MS)) * 5 * MINUTE_MS;

/** `text`: of `after`. `atMs`: Unix ms. */
export function onlyNewIds(before: DeclaredTable, after: DeclaredTable, text: string, atMs: number): OnlyNew {
  const at = new Date(atMs).toISOString().replace(".000Z", "Z");
  const routes = routesAt(before.routes, after.routes, at);
  const edited = editedTo(text, after, { ...after, routes });
  const checked = readText(edited);
  if (!checked.ok) return { ok: false, why: whyNot(checked.error, routes) };
  const isEarlier = (time: string | undefined) => time === undefined || Date.parse(time) < atMs;
  const isLater = (time: string | undefined) => time === undefined || Date.parse(time) > atMs;
  const early = diffTables(before, checked.value).keys.find(({ mintedFrom }) => isEarlier(mintedFrom));
  const late = diffTables(after, checked.value).keys.find(({ mintedBefore }) => isLater(mintedBefore));
  const wrong = early ?? late;
  if (wrong !== undefined) {
    const why = `IDs of layout ${wrong.layout} would go elsewhere whenever they were minted: the draft changes more than routes.`;
    return { ok: false, why };
  }
  return { ok: true, text: edited, table: checked.value };
}

const TIMELESS = "Their IDs do not say when they were minted, so older ones cannot be told from newer ones.";

function whyNot(
  faults: readonly { readonly pointer: string; readonly message: string }[],
  routes: readonly DeclaredRoute[],
): string {
  const [fault] = faults;
  const index = Number(/^\/routes\/(\d+)/.exec(fault?.pointer ?? "")?.[1]);
  const route = routes[index];
  if (route === undefined || fault === undefined) return "The older IDs need something that the draft removes.";
  return /minted/.test(fault.pointer) || /minting|minted|time/.test(fault.message)
    ? TIMELESS
    : `The older IDs need their route as it is, and beside the draft it has a fault: ${fault.message}`;
}

/** Changed routes take IDs from the moment on; behind them those of the table before take the older ones. */
function routesAt(before: readonly DeclaredRoute[], after: readonly DeclaredRoute[], at: string): DeclaredRoute[] {
  const hunks = hunksOf(before.map(canonical), after.map(canonical));
  const routes = [...after];
  for (const { at: from, end, afterAt, afterEnd } of hunks.toReversed()) {
    const own = after.slice(afterAt, afterEnd);
    const conditions = new Set(own.map(({ when }) => canonical(when)));
    const old = before.slice(from, end);
    // Then the newer ones never come to the older route.
    const isCovered = old.every(({ when }) => conditions.has(canonical(when)));
    const newer = own.flatMap((route) => limited(route, "mintedFrom", at));
    const older = isCovered ? old : old.flatMap((route) => limited(route, "mintedBefore", at));
    routes.splice(afterAt, afterEnd - afterAt, ...newer, ...older);
  }
  return routes;
}

/** The route for the IDs of one side of the moment; none where it has no such IDs. */
function limited(route: DeclaredRoute, side: "mintedFrom" | "mintedBefore", at: string): readonly DeclaredRoute[] {
  const { mintedFrom, mintedBefore } = route.when;
  const [from, before, moment] = [mintedFrom, mintedBefore, at].map((time) =>
    time === undefined ? undefined : Date.parse(time),
  );
  if (moment === undefined) return [route];
  if (side === "mintedFrom") {
    if (before !== undefined && before <= moment) return [];
    if (from !== undefined && from >= moment) return [route];
  } else {
    if (from !== undefined && from >= moment) return [];
    if (before !== undefined && before <= moment) return [route];
  }
  return [{ ...route, when: { ...route.when, [side]: at } }];
}
