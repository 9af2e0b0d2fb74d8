import type { EntityPreview } from "../../published/console-api.ts";
import { type Answer, call } from "../app/api.ts";
import type { Mood } from "../app/parts.tsx";
import type { Pasted } from "./read-pasted.ts";
import type { Reading } from "./reader.ts";

/** What the gateway says of an ID. Nothing here is called before the reader of the page asks for it. */

export interface Asked {
  readonly explanation: Reading & { readonly learned?: { readonly region: string } };
  /** The regions now; absent where the role does not see them. */
  readonly health: readonly RegionHealth[] | undefined;
  /** Where a path or a URL was pasted. */
  readonly whole: WholePath | undefined;
  /** Of a key that a directory holds. */
  readonly entry: DirectoryEntry | undefined;
}

/** Where a request on the whole path would go. */
export interface WholePath {
  readonly owner?: string;
  readonly region?: string;
  readonly source?: string;
  readonly problem?: { readonly detail: string };
}

export type DirectoryEntry = Readonly<Record<string, string | number | undefined>>;

export interface RegionHealth {
  readonly region: string;
  readonly mood: Mood;
  readonly words: string;
}

export interface Origin {
  readonly host: string;
  readonly weight: number;
  readonly breaker: string;
  readonly openUntil: string | null;
  readonly lastFault: { readonly fault: string; readonly at: string } | null;
  readonly lastAnswer: string | null;
  readonly lastCheck: {
    readonly at: string;
    readonly good: boolean;
    readonly status: number | null;
    readonly fault: string | null;
  } | null;
}

export interface Regions {
  readonly source: string;
  readonly since: string;
  readonly regions: Readonly<
    Record<string, { readonly requests?: number; readonly share?: number; readonly origins: readonly Origin[] }>
  >;
}

/** `directories`: of keys in place of IDs, by entity. */
export async function ask({ id, path }: Pasted, directories: ReadonlyMap<string, string>): Promise<Answer<Asked>> {
  const [explained, regions, whole] = await Promise.all([
    call<Asked["explanation"]>(`/-/ids/${encodeURIComponent(id)}`),
    call<Regions>("/-/regions"),
    path === undefined ? undefined : call<WholePath>("/-/explain", { method: "POST", body: { url: path } }),
  ]);
  if (!explained.ok) return explained;
  const explanation = { ...explained.value, isRouted: true };
  const health = regions.ok ? healthOf(regions.value) : undefined;
  const onPath = whole?.ok ? whole.value : undefined;
  const directory = directories.get(onPath?.owner ?? "");
  const entry =
    directory === undefined
      ? undefined
      : await call<DirectoryEntry>(`/-/directory/${encodeURIComponent(directory)}/${encodeURIComponent(id)}`);
  return { ...explained, value: { explanation, health, whole: onPath, entry: entry?.ok ? entry.value : undefined } };
}

export const healthOf = ({ regions }: Regions): readonly RegionHealth[] =>
  Object.entries(regions).map(([region, { origins }]) => ({ region, ...healthOfOrigins(origins) }));

/** Good unless an origin's breaker is open or its last check failed. */
export function healthOfOrigins(origins: readonly Origin[]): { readonly mood: Mood; readonly words: string } {
  const used = origins.filter(({ weight }) => weight > 0);
  const isDown = ({ breaker, lastCheck }: Origin): boolean => breaker === "open" || lastCheck?.good === false;
  const down = used.filter(isDown).length;
  if (used.length === 0) return { mood: "warn", words: "drained" };
  if (down === used.length) return { mood: "bad", words: "down now" };
  if (down > 0) return { mood: "warn", words: `${down} of ${used.length} origins down` };
  const isKnown = used.some(({ lastAnswer, lastCheck }) => lastAnswer !== null || lastCheck !== null);
  return isKnown ? { mood: "good", words: "healthy now" } : { mood: "plain", words: "no request yet" };
}

export const previewOf = (id: string): Promise<Answer<EntityPreview>> =>
  call<EntityPreview>(`/-/console/entity/${encodeURIComponent(id)}`);
