import { computed, signal } from "@preact/signals";
import { patternsOf } from "../../routing/lookup/paths.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { bareReader, type Names, type Reader } from "../lookup/reader.ts";
import { type Answer, call, hasExpired, inOrder, type Problem } from "./api.ts";
import { ownOf } from "./own.ts";
import { forgetTyped, ownTyped } from "./typed.ts";

export type Scope = "support" | "viewer" | "operator" | "mint";

export interface Session {
  readonly name: string;
  readonly scope: Scope;
  readonly by: string;
  /** ISO 8601; absent where nothing ends it. */
  readonly expiresAt?: string | null;
  /** ISO 8601: it ends then, however much it is used. */
  readonly endsBy?: string | null;
  readonly deployment?: string | null;
  /** By the setting `ENVIRONMENT`. */
  readonly environment?: string | null;
  readonly revision?: number | null;
}

/** `undefined`: not asked yet. `null`: signed out. */
export const session = signal<Session | null | undefined>(undefined);

/** The table in force with its text, for those who may see it. */
export interface KnownTable {
  readonly declared: DeclaredTable;
  readonly text: string;
  readonly revision: number;
  /** The line of a value in the text, from 1, by its JSON pointer. */
  readonly lineOf: (pointer: string) => number | undefined;
}

export const knownTable = signal<KnownTable | undefined>(undefined);
export const reader = signal<Reader>(bareReader);
/** Entities with keys of a directory in place of IDs. */
export const keyed = signal<readonly KeyedEntity[]>([]);
/** In the order of the table: their shapes and colours follow it. */
export const regionNames = signal<readonly string[]>([]);
export const namesProblem = signal<Problem | undefined>(undefined);

export const mayView = computed(() => session.value?.scope === "viewer" || session.value?.scope === "operator");
export const mayChange = computed(() => session.value?.scope === "operator");

const SESSION = "/-/console/session";

export async function loadSession(): Promise<void> {
  const answer = await call<Session>(SESSION, { isSignIn: true });
  if (answer.ok) await enter(answer.value);
  else if (session.value === undefined || answer.problem.status === 401) session.value = null;
}

/** Asks until when it is: each use moves its end. */
export async function refreshSession(): Promise<void> {
  const answer = await call<Session>(SESSION);
  if (answer.ok && answer.value.name === session.peek()?.name) session.value = answer.value;
}

/** The problem, or who is signed in now: `enter` goes on with it. */
export async function signIn(token: string): Promise<Answer<Session>> {
  const answer = await call<undefined>(SESSION, { method: "POST", body: { token }, isSignIn: true });
  return answer.ok ? await call<Session>(SESSION, { isSignIn: true }) : answer;
}

/** Ends the session of one who turned out to be another, and leaves the page as it is. */
export const undoSignIn = () => call<undefined>(SESSION, { method: "DELETE", isSignIn: true });

/** Nothing of a table stays in the page of a signed-out browser. Out of reach of the gateway one stays signed in. */
export async function signOut(): Promise<void> {
  const { ok } = await call(SESSION, { method: "DELETE", isSignIn: true });
  if (!ok) return;
  forgetTyped();
  location.reload();
}

/** Nothing of one person stays for the next: the page of another starts over. */
export async function enter(own: Session): Promise<void> {
  const before = session.peek();
  ownTyped(own.name);
  if (before && (before.name !== own.name || before.scope !== own.scope)) return location.reload();
  hasExpired.value = false;
  session.value = own;
  await loadTable();
}

export interface KeyedEntity {
  readonly entity: string;
  readonly directory: string;
  /** Where requests name a key, such as `/shops/:id`. */
  readonly pattern: string;
  /** How long gateways may have an earlier answer. */
  readonly cacheSeconds: number;
}

const keyedOf = ({
  entities = {},
  directory: all = {},
}: Pick<Names, "entities" | "directory">): readonly KeyedEntity[] =>
  Object.entries(entities).flatMap(([entity, { directory, path }]) => {
    const pattern = patternsOf(path).find((each) => !each.pattern.includes("*"))?.pattern;
    if (directory === undefined || pattern === undefined) return [];
    return [{ entity, directory, pattern, cacheSeconds: ownOf(all, directory)?.cacheSeconds ?? CACHE_SECONDS }];
  });

/** For a directory that names none. */
const CACHE_SECONDS = 60;

const askTable = inOrder();

/** Data that the page needs to read IDs: the table for viewers, its names for support. */
export async function loadTable(): Promise<void> {
  const isNews = askTable();
  namesProblem.value = mayView.value ? await loadWhole(isNews) : await loadNames(isNews);
}

const BROKEN: Problem = {
  slug: "unreachable",
  title: "A part of this page could not be loaded",
  detail: "Without it the page cannot read the table.",
  status: 0,
  members: {},
};

async function loadWhole(isNews: () => boolean): Promise<Problem | undefined> {
  // The parsers of tables and of positions are large: before sign-in nothing needs them. Without positions a rule has no line.
  const [answer, parts, positions] = await Promise.all([
    call<string>("/-/table", { asText: true }),
    import("../lookup/table-reader.ts").catch(() => undefined),
    import("../../formats/console/positions.ts").catch(() => undefined),
  ]);
  if (!isNews()) return namesProblem.peek();
  if (!answer.ok) return answer.problem;
  if (parts === undefined) return BROKEN;
  const revision = Number(answer.headers.get("waybill-revision") ?? 0);
  const text = answer.value;
  // The same table as before: what was made of it stays.
  if (knownTable.peek()?.text === text && knownTable.peek()?.revision === revision) return undefined;
  const read = parts.readTable(text, revision);
  if (read !== undefined) {
    keyed.value = keyedOf(read.declared);
    // Lists ask for the lines of all their rows.
    const lineOf = positions?.linesIn(text) ?? (() => undefined);
    knownTable.value = { declared: read.declared, text, revision, lineOf };
    regionNames.value = Object.keys(read.declared.regions);
  }
  reader.value = read?.reader ?? bareReader;
  return undefined;
}

async function loadNames(isNews: () => boolean): Promise<Problem | undefined> {
  const [answer, regions, parts] = await Promise.all([
    call<Names>("/-/console/names"),
    call<{ readonly regions: Readonly<Record<string, unknown>> }>("/-/regions"),
    import("../lookup/table-reader.ts").catch(() => undefined),
  ]);
  if (!isNews()) return namesProblem.peek();
  if (regions.ok) regionNames.value = Object.keys(regions.value.regions);
  if (!answer.ok) return answer.problem;
  if (parts === undefined) return BROKEN;
  keyed.value = keyedOf(answer.value);
  reader.value = parts.readerOfNames(answer.value) ?? bareReader;
  return undefined;
}
