import type { EntityPreview, RuleView } from "../../formats/console-api.ts";
import type { CanaryMember } from "../../formats/console-canary.ts";
import type { RegionHealth } from "../../formats/region-state.ts";
import { ID_LENGTH_MAX } from "../../routing/limits.ts";
import { pathWithId } from "../../routing/lookup/paths.ts";
import { type Answer, call, type Problem, slugOf } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import type { KeyedEntity } from "../app/session.ts";
import type { Pasted } from "./read-pasted.ts";
import type { Reading } from "./reader.ts";

/** The gateway's answer about an ID. Nothing here is called before the reader of the page asks for it. */

export interface Asked {
  readonly explanation: Reading & CanaryMember & { readonly learned?: { readonly region: string } };
  /** Revision of the table that decided. */
  readonly revision: number | undefined;
  /** When the gateway said it, Unix ms. */
  readonly askedAtMs: number;
  /** The regions now; absent where the role does not see them. */
  readonly health?: Regions["regions"] | undefined;
  /** Where a request on the path would go, if one is known. */
  readonly whole?: WholePath | undefined;
  /** The entry of the table that decides. */
  readonly why?: RuleView | undefined;
  /** Answers of directories about the text as a key. */
  readonly keys?: readonly KeyAnswer[] | undefined;
}

/** Where a request on the whole path would go. */
export interface WholePath extends CanaryMember {
  readonly owner?: string;
  readonly region?: string;
  readonly source?: string;
  readonly redirect?: string;
  /** Every ID of the request, that of the path first. */
  readonly ids?: readonly { readonly place: string; readonly entity: string; readonly layout?: string }[];
  readonly problem?: {
    readonly type: string;
    readonly title: string;
    readonly detail: string;
    readonly status?: number;
  };
}

/** Contents of one directory. `entity`: absent for keys that are IDs. */
export interface KeyAnswer {
  readonly directory: string;
  readonly entity?: string | undefined;
  readonly cacheSeconds?: number | undefined;
  /** When the directory itself was asked, Unix ms. */
  readonly askedAtMs: number;
  readonly entry: Answer<DirectoryEntry>;
}

/** `state`: only a confirmed key routes. Times are ISO 8601. */
export interface DirectoryEntry {
  readonly key: string;
  readonly region: string;
  readonly owner?: string;
  readonly state: "reserved" | "expired" | "confirmed";
  readonly version: number;
  readonly changedAt: string;
  readonly leaseUntil?: string;
  readonly missingSince?: string;
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
    Record<
      string,
      RegionHealth & { readonly requests?: number; readonly share?: number; readonly origins: readonly Origin[] }
    >
  >;
}

/**
 * One request says the region, and for an ID on a path two: `show` gets it at once, and then what the others add, whichever comes
 * first. Returns the problem of what says the region.
 */
export async function ask(
  { id, path }: Pasted,
  keyed: readonly KeyedEntity[],
  show: (asked: Asked) => void,
): Promise<Problem | undefined> {
  const regions = call<Regions>("/-/regions");
  const [explained, placed] = await Promise.all([
    call<Asked["explanation"]>(`/-/ids/${encodeURIComponent(id)}`),
    path === undefined ? undefined : explainPath(path),
  ]);
  if (!explained.ok) return explained.problem;
  if (placed?.ok === false) return placed.problem;
  const whole = placed?.value;
  const explanation = onlyIfPlaced(explained.value, whole);
  const [, revision] = /^rev=(\d+);/.exec(explained.headers.get("waybill-table") ?? "") ?? [];
  let asked: Asked = {
    explanation,
    revision: revision === undefined ? undefined : Number(revision),
    askedAtMs: gatewayNow(),
    whole,
  };
  show(asked);
  const add = (more: Partial<Asked>): void => {
    asked = { ...asked, ...more };
    show(asked);
  };
  const { decision, publicOf } = explanation;
  const addWhy = async (query = ""): Promise<void> => {
    const why = await call<RuleView>(`/-/console/rule/${encodeURIComponent(id)}${query}`);
    if (why.ok) add({ why: why.value });
  };
  const addWhyOf = async (at: string, of: WholePath): Promise<void> => {
    const isDecided = decision === undefined && publicOf === undefined && of.region !== undefined;
    if (isDecided) await addWhy(`?path=${encodeURIComponent(at)}`);
  };
  const addPath = async (at: string): Promise<void> => {
    const known = await explainPath(at);
    if (!known.ok) return;
    add({ whole: known.value });
    await addWhyOf(at, known.value);
  };
  const addKeys = async (): Promise<void> => {
    const owner = whole?.owner;
    const places =
      decision?.rule.kind === "directory"
        ? [{ directory: decision.rule.directory }]
        : decision !== undefined || publicOf !== undefined
          ? []
          : keyed.filter(({ entity }) => path === undefined || entity === owner);
    if (places.length === 0) return;
    const keys = await Promise.all(places.map((place) => askDirectory(place, id)));
    add({ keys });
    // A key alone has no path: that of its entity says where requests go.
    const [found, ...others] = keys.filter(({ entry }) => entry.ok);
    const of = others.length === 0 ? keyed.find(({ entity }) => entity === found?.entity) : undefined;
    if (path !== undefined || of === undefined) return;
    await addPath(keyPath(of, id));
  };
  const addHealth = async (): Promise<void> => {
    const known = await regions;
    if (known.ok) add({ health: known.value.regions });
  };
  await Promise.all([
    ...(path === undefined || whole === undefined ? [] : [addWhyOf(path, whole)]),
    ...(path !== undefined || publicOf === undefined ? [] : [addPath(`/any/${id}`)]),
    ...(decision === undefined ? [] : [addWhy()]),
    addKeys(),
    addHealth(),
  ]);
  return undefined;
}

/** The explanation of an ID alone, and no decision where its path makes it another entity or layout: then the path decides. */
function onlyIfPlaced(alone: Asked["explanation"], whole: WholePath | undefined): Asked["explanation"] {
  const placed = whole?.ids?.find(({ place }) => place === "path");
  const { decision } = alone;
  if (placed === undefined || decision === undefined) return alone;
  const isSame = placed.entity === decision.entity && placed.layout === decision.layout;
  return isSame ? alone : { ...alone, decision: undefined };
}

/** Where requests name a key. */
export const keyPath = ({ pattern }: KeyedEntity, key: string): string => pathWithId(pattern, encodeURIComponent(key));

/** Redirects of `/any` are followed once: they lead to the entity's own path. */
async function explainPath(path: string): Promise<Answer<WholePath>> {
  const explain = (url: string) => call<WholePath>("/-/explain", { method: "POST", body: { url } });
  const answer = await explain(path);
  const { redirect, region } = answer.ok ? answer.value : {};
  return redirect !== undefined && region === undefined ? explain(redirect) : answer;
}

/** Where the gateway leads an ID of a list. `problem`: a slug, where it leads nowhere. */
export interface Located {
  readonly region: string;
  readonly problem: string;
}

type Results = { readonly results: readonly Pick<WholePath, "region" | "problem">[] };

/** As many as the gateway takes in one request. */
const AT_ONCE_MAX = 1_000;

/** No ID, and no layout reads it: it stands for texts that are too long to send. */
const TOO_LONG = "?";

/**
 * Where the IDs of a list go, in its order, from the first that is not known. `show` gets what is known so far, and says whether
 * to go on. `isSame`: whether an ID is read on its path as it is alone. Returns the problem that ended it.
 */
export async function askMany(
  items: readonly Pasted[],
  known: readonly Located[],
  isSame: (item: Pasted) => boolean,
  show: (located: readonly Located[]) => boolean,
): Promise<Problem | undefined> {
  let located = known;
  while (located.length < items.length) {
    const some = items.slice(located.length, located.length + AT_ONCE_MAX);
    const body = some.map(({ id }) => (/^[\x21-\x7e]+$/.test(id) && id.length <= ID_LENGTH_MAX ? id : TOO_LONG));
    const answer = await call<Results>("/any?locate=true", { method: "POST", body });
    if (!answer.ok) return answer.problem;
    const found = answer.value.results.map(({ region = "", problem }) => ({ region, problem: slugOf(problem?.type) }));
    for (const [at, item] of some.entries()) {
      const { path } = item;
      // Alone a key may lead nowhere, or be an ID of another entity; and a path may refuse an ID.
      if (path === undefined || (found[at]?.region !== "" && isSame(item))) continue;
      const placed = await explainPath(path);
      if (!placed.ok) return placed.problem;
      const { region = "", problem } = placed.value;
      found[at] = { region, problem: slugOf(problem?.type) };
    }
    located = [...located, ...found];
    if (!show(located)) return undefined;
  }
  return undefined;
}

type Place = Pick<KeyAnswer, "directory"> & Partial<KeyedEntity>;

async function askDirectory(place: Place, key: string): Promise<KeyAnswer> {
  const { directory, entity, cacheSeconds } = place;
  const path = `/-/directory/${encodeURIComponent(directory)}/${encodeURIComponent(key)}`;
  const entry = await call<DirectoryEntry>(path);
  return { directory, entity, cacheSeconds, entry, askedAtMs: gatewayNow() };
}

/** `path`: the entity's own, for a text that says no entity alone. */
export const previewOf = (id: string, path: string | undefined): Promise<Answer<EntityPreview>> =>
  call<EntityPreview>(
    `/-/console/entity/${encodeURIComponent(id)}${path === undefined ? "" : `?path=${encodeURIComponent(path)}`}`,
  );
