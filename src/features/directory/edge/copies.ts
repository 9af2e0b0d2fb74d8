import { waitUntil } from "cloudflare:workers";
import { type ChunkSource, type ChunkStoreOptions, chunkStore, formatFailure } from "../../../edge/chunks/store.ts";
import { setLast, subtleSha256, withTimeout } from "../../../edge/platform.ts";
import { deleteKey, KV_CACHE_SECONDS, within } from "../../../edge/table/kv.ts";
import { err, ok } from "../../../ids/result.ts";
import type { CopyAnswer, CopyLayer, CopyStore, DirectoryFailure, DirectoryTruth } from "../port.ts";
import * as format from "../table/copy-format.ts";

export interface CopiesOptions extends ChunkStoreOptions {
  readonly truth: Pick<DirectoryTruth, "changesSince">;
  readonly report: (failure: CopyFailure) => void;
  /** How long a look-up waits for a pointer, a header or a page. The objects answer instead. */
  readonly waitMs?: number;
}

export type CopyFailure = Readonly<{ directory: string; part: "pointer" | "header" | "changes" | number; why: string }>;

/**
 * Between two reads of a pointer and of the changes since; after a failure sooner. A removed or renewed copy is known after this
 * time and that of KV, a changed key after this time.
 */
const POINTER_MS = 60_000;
const POINTER_RETRY_MS = 5_000;

const WAIT_MS = 500;
const READ_DEADLINE_MS = 2_000;

/** For how long the changes of a minute ago count while the object does not answer. */
const CONFIRMED_MS = 3 * POINTER_MS;

/** The clocks of those who make copies and of the object. */
const CLOCKS_MS = 600_000;

/** Most changed keys in the notes between two readings. */
const FORGOTTEN_MAX = 10_000;

/** Headers in memory: 150 kB each for ten million keys. */
const DIRECTORIES_MAX = 16;

/** The last copy of a directory, `undefined` for none. */
type State = { copy: Copy | undefined; dueMs: number; flight: Flight | undefined };
type Flight = Readonly<{ startedAtMs: number; end: Promise<void> }>;
/** `changed`: keys about which it is wrong; `undefined`: it is void. */
type Copy = {
  readonly sha256: string;
  readonly loaded: format.LoadedCopy;
  changed: Set<string> | undefined;
  confirmedAtMs: number;
};

export const edgeCopies = (options: Omit<CopiesOptions, "cache" | "waitUntil">): CopyLayer =>
  kvCopies({ ...options, cache: caches.default, waitUntil });

/**
 * The published copies of directories. A header and its pages are verified by their digests and named by them; a copy is as old as
 * its header says, and who asks decides whether that is too old. Keys that were moved or removed since are asked of the objects,
 * which note them. A failure is `undefined`, never absent.
 */
export function kvCopies(options: CopiesOptions): CopyLayer {
  const { kv, clock, report, waitMs = WAIT_MS } = options;
  const store = chunkStore(options);
  const states = new Map<string, State>();

  async function find(directory: string, key: string): Promise<CopyAnswer | undefined> {
    const copy = await copyOf(directory);
    if (copy === undefined) return undefined;
    const { loaded, sha256 } = copy;
    const found = answerBy(copy, key);
    if (found === "not-loaded") {
      const { page } = loaded;
      const read = await store.load(pageSource(sha256, loaded, page), waitMs);
      if (!read.ok) {
        if (read.error.isNew) report({ directory, part: page, why: read.error.why });
        return undefined;
      }
      const again = answerBy(copy, key);
      // Other pages displaced it at once.
      return again === "not-loaded" ? undefined : again;
    }
    return found;
  }

  function answerBy(copy: Copy, key: string): CopyAnswer | "not-loaded" | undefined {
    if (copy.changed?.has(key) !== false) return undefined;
    const { builtAtMs, header } = copy.loaded;
    const place = copy.loaded.find(key);
    if (place === format.COPY_NOT_LOADED) return "not-loaded";
    if (place === format.COPY_NOT_FOUND) return { state: "absent", builtAtMs };
    const region = header.regions[place];
    if (region === undefined) return undefined;
    return { state: "found", region, builtAtMs, isConfirmed: clock.nowMs() < copy.confirmedAtMs + CONFIRMED_MS };
  }

  /** The copy in memory; one that may have been renewed is read behind the answer. */
  async function copyOf(directory: string): Promise<Copy | undefined> {
    const state = states.get(directory) ?? { copy: undefined, dueMs: 0, flight: undefined };
    if (clock.nowMs() < state.dueMs) return state.copy;
    setLast(states, directory, state, DIRECTORIES_MAX);
    // A read can die with the request that started it.
    if (state.flight === undefined || clock.nowMs() >= state.flight.startedAtMs + 2 * READ_DEADLINE_MS) {
      const end = refresh(directory, state);
      const flight = { startedAtMs: clock.nowMs(), end };
      state.flight = flight;
      const clear = () => {
        if (state.flight === flight) state.flight = undefined;
      };
      options.waitUntil(end.then(clear, clear));
    }
    if (state.copy === undefined) await withTimeout(state.flight.end, waitMs, () => undefined);
    return state.copy;
  }

  async function refresh(directory: string, state: State): Promise<void> {
    const key = format.copyPointerKey(directory);
    const pointer = await within(() => kv.get(key, { type: "text", cacheTtl: KV_CACHE_SECONDS }), READ_DEADLINE_MS);
    const fail = (part: "pointer" | "header" | "changes", why: string): void => {
      // The last copy counts until who asks finds it too old.
      state.dueMs = clock.nowMs() + POINTER_RETRY_MS;
      report({ directory, part, why });
    };
    if (!pointer.ok) return fail("pointer", formatFailure(pointer.error));
    const sha256 = pointer.value;
    if (sha256 !== null && sha256 !== state.copy?.sha256) {
      if (!/^[0-9a-f]{64}$/.test(sha256)) return fail("pointer", `${key} is not a digest`);
      const loaded = await store.load(headerSource(directory, sha256));
      if (!loaded.ok) return fail("header", loaded.error.why);
      state.copy = { sha256, loaded: loaded.value, changed: new Set(), confirmedAtMs: Number.NEGATIVE_INFINITY };
    }
    if (sha256 === null) state.copy = undefined;
    if (state.copy !== undefined && !(await readChanges(directory, state.copy))) {
      return fail("changes", "the object did not answer");
    }
    state.dueMs = clock.nowMs() + POINTER_MS;
  }

  async function readChanges(directory: string, copy: Copy): Promise<boolean> {
    const changes = await options.truth.changesSince(directory, copy.loaded.builtAtMs - CLOCKS_MS);
    if (!changes.ok) return false;
    copy.changed = changes.value && new Set(changes.value);
    copy.confirmedAtMs = clock.nowMs();
    return true;
  }

  const headerSource = (directory: string, sha256: string): ChunkSource<format.LoadedCopy> => ({
    key: format.copyKey(sha256),
    deadlineMs: READ_DEADLINE_MS,
    async open(bytes) {
      const header = await format.readCopyHeader(new Uint8Array(bytes), subtleSha256, sha256);
      if (!header.ok) return err(format.formatCopyFault(header.error));
      const other = header.value.directory;
      return other === directory ? ok(new format.LoadedCopy(header.value)) : err(`it is a copy of ${other}`);
    },
  });

  const pageSource = (sha256: string, copy: format.LoadedCopy, number: number): ChunkSource<undefined> => ({
    key: format.copyPageKey(sha256, number),
    deadlineMs: READ_DEADLINE_MS,
    async open(bytes) {
      const page = await format.readCopyPage(copy.header, number, new Uint8Array(bytes), subtleSha256);
      if (!page.ok) return err(format.formatCopyFault(page.error));
      if (copy.pages[number] === undefined) {
        store.keep(page.value, () => {
          copy.pages[number] = undefined;
        });
        copy.pages[number] = page.value;
      }
      return ok(undefined);
    },
  });

  return {
    find,
    peek(directory, key) {
      const state = states.get(directory);
      if (state?.copy === undefined || clock.nowMs() >= state.dueMs) return undefined;
      const found = answerBy(state.copy, key);
      return found === "not-loaded" ? undefined : found;
    },
    forget(directory, key) {
      const copy = states.get(directory)?.copy;
      if (copy?.changed !== undefined && copy.changed.size < FORGOTTEN_MAX) copy.changed.add(key);
    },
    async renew(directory) {
      const state = states.get(directory);
      if (state === undefined) return;
      const late = () => undefined;
      // A read that began before the change may end after this one.
      if (state.flight !== undefined) await withTimeout(state.flight.end, READ_DEADLINE_MS, late).catch(late);
      await withTimeout(refresh(directory, state), READ_DEADLINE_MS, late).catch(late);
    },
  };
}

/** A value of KV takes a second from afar; uploads wait for it. */
const WRITE_DEADLINE_MS = 8_000;
const COPY_RETRY_SECONDS = 5;

/** The copies in KV, for those who publish and verify them. A read may be a minute old. */
export function copyStore(kv: KVNamespace, report: (why: unknown) => void): CopyStore {
  const call = async <Value>(directory: string, work: () => Promise<Value>) => {
    const done = await within(work, WRITE_DEADLINE_MS);
    if (done.ok) return done;
    report(formatFailure(done.error));
    const retryAfterSeconds = COPY_RETRY_SECONDS;
    return err<DirectoryFailure>({ reason: "directory-unavailable", directory, retryAfterSeconds, why: "failed" });
  };
  const keyOf = (sha256: string, page: number | undefined): string =>
    page === undefined ? format.copyKey(sha256) : format.copyPageKey(sha256, page);
  return {
    current: (directory) =>
      call(directory, async () => (await kv.get(format.copyPointerKey(directory), { type: "text" })) ?? undefined),
    read: (directory, sha256, page) =>
      call(directory, async () => {
        const bytes = await kv.get(keyOf(sha256, page), { type: "arrayBuffer" });
        return bytes === null ? undefined : new Uint8Array(bytes);
      }),
    write: (directory, sha256, page, bytes) => call(directory, () => kv.put(keyOf(sha256, page), bytes)),
    point: (directory, sha256) =>
      call(directory, () => {
        const key = format.copyPointerKey(directory);
        return sha256 === undefined ? deleteKey(kv, key) : kv.put(key, sha256);
      }),
  };
}
