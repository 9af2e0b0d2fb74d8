import { readIdempotencyKey } from "../formats/key-field.ts";
import { err, ok, type Result } from "../ids/result.ts";
import { headerOf, type RequestLike, targetOf } from "./request.ts";

/** A command on an entity that is done once for its key, however often the client sends it. */
export interface Command {
  /** The entity's one name here, such as its row's key: an ID may have several texts. */
  readonly entity: string;
  /** The client's `idempotency-key`. */
  readonly key: string;
  /** The sender. Two callers with one key have two commands. */
  readonly caller?: string | undefined;
  /** All that makes it another command, such as method, target and body. */
  readonly payload: string | Uint8Array;
}

/** A command as a store holds it: plain JSON if answers are. */
export interface CommandRecord<Answer> {
  /** SHA-256 of the payload in hexadecimal. */
  readonly payload: string;
  /** Names the attempt that has the command. */
  readonly attempt: string;
  /** Until then the attempt is taken to be at work, Unix ms; 0 for one that has failed. */
  readonly leaseUntilMs: number;
  /** From then on the command may be removed, Unix ms. */
  readonly untilMs: number;
  /** Absent until the command is done. */
  readonly done?: { readonly answer: Answer };
}

export type CommandStep<Answer> = (held: CommandRecord<Answer> | undefined) => CommandRecord<Answer> | undefined;

/**
 * Storage for commands. Keep them beside the entities. `update` runs `step` in a transaction, stores a changed result, and returns
 * it. It may retry the step. `commandStoreRules` hold a store to this.
 */
export interface CommandStore<Answer> {
  update(
    entity: string,
    key: string,
    step: CommandStep<Answer>,
  ): CommandRecord<Answer> | undefined | Promise<CommandRecord<Answer> | undefined>;
}

/** Why a command is not done. */
export type CommandFault =
  /** The key was used for another command on the entity. */
  | { readonly reason: "other-command" }
  /** Another attempt is at work. */
  | { readonly reason: "in-progress"; readonly retryAfterSeconds: number };

export interface CommandOptions<Answer> {
  readonly store: CommandStore<Answer>;
  /** How long an answer is kept, in ms; default a day. */
  readonly keepMs?: number;
  /** How long an attempt may take, in ms, until it is taken for dead; default a minute. */
  readonly leaseMs?: number;
  /** Unix ms; default `Date.now`. */
  readonly now?: () => number;
}

export interface Commands<Answer> {
  /**
   * Does the command, or gives the answer of the time when it was done. `act` that throws has done nothing: the command may be sent again.
   * `keep` makes the step that holds an answer, for a store that takes it in the transaction of the effect.
   */
  once(
    command: Command,
    act: (keep: (answer: Answer) => CommandStep<Answer>) => Answer | Promise<Answer>,
  ): Promise<Result<{ readonly answer: Answer; readonly isReplayed: boolean }, CommandFault>>;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export function createCommands<Answer>(options: CommandOptions<Answer>): Commands<Answer> {
  const { store, keepMs = DAY_MS, leaseMs = MINUTE_MS, now = Date.now } = options;
  return {
    async once(command, act) {
      const { entity } = command;
      const key = storedKey(command);
      const payload = await sha256(command.payload);
      const attempt = crypto.randomUUID();
      const nowMs = now();
      const own = { payload, attempt, leaseUntilMs: nowMs + leaseMs, untilMs: nowMs + Math.max(keepMs, leaseMs) };
      const held = await store.update(entity, key, (before) => {
        if (before === undefined || before.untilMs <= nowMs) return own;
        const isFree = before.done === undefined && before.leaseUntilMs <= nowMs;
        // It must not end before its attempt.
        return isFree && before.payload === payload
          ? { ...own, untilMs: Math.max(before.untilMs, own.leaseUntilMs) }
          : before;
      });
      if (held === undefined) throw new Error("the store of commands gave nothing back");
      if (held.payload !== payload) return err({ reason: "other-command" });
      if (held.done !== undefined) return ok({ answer: held.done.answer, isReplayed: true });
      if (held.attempt !== attempt) {
        const retryAfterSeconds = Math.max(1, Math.ceil((held.leaseUntilMs - nowMs) / 1000));
        return err({ reason: "in-progress", retryAfterSeconds });
      }
      const ofAttempt =
        (change: (before: CommandRecord<Answer>) => CommandRecord<Answer>): CommandStep<Answer> =>
        (before) =>
          before === undefined || before.attempt !== attempt || before.done !== undefined ? before : change(before);
      const keep = (answer: Answer) => ofAttempt((before) => ({ ...before, done: { answer } }));
      let answer: Answer;
      try {
        answer = await act(keep);
      } catch (error) {
        await store.update(
          entity,
          key,
          ofAttempt((before) => ({ ...before, leaseUntilMs: 0 })),
        );
        throw error;
      }
      // An attempt that took longer than its lease may find the answer of the next one, which clients have seen.
      const kept = await store.update(entity, key, keep(answer));
      return ok({ answer: kept?.done === undefined ? answer : kept.done.answer, isReplayed: false });
    },
  };
}

/** The command in a request on an entity; `undefined` without a key. `body`: all of it. */
export function commandOf(
  request: RequestLike,
  body: string | Uint8Array,
  { entity, caller }: Pick<Command, "entity" | "caller">,
): Result<Command | undefined, { readonly reason: "idempotency-key-invalid" }> {
  const key = readIdempotencyKey(headerOf(request, "idempotency-key"));
  if (!key.ok) return key;
  if (key.value === undefined) return ok(undefined);
  const head = [request.method, targetOf(request), headerOf(request, "content-type") ?? null];
  const bytes = bytesOf(body);
  const before = bytesOf(`${JSON.stringify(head)}\n`);
  const payload = new Uint8Array(before.length + bytes.length);
  payload.set(before);
  payload.set(bytes, before.length);
  return ok({ entity, caller, key: key.value, payload });
}

/** No two commands of an entity have one. */
const storedKey = ({ caller, key }: Command): string => (caller === undefined ? key : JSON.stringify([caller, key]));

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === "string" ? new TextEncoder().encode(data) : data;

async function sha256(data: string | Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytesOf(data))));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** For tests, and for single-process origins that keep their entities in memory. It keeps all commands. */
export function memoryCommandStore<Answer>(): CommandStore<Answer> {
  const records = new Map<string, CommandRecord<Answer>>();
  return {
    update(entity, key, step) {
      const name = JSON.stringify([entity, key]);
      const held = records.get(name);
      const next = step(held);
      if (next !== undefined && next !== held) records.set(name, next);
      return next;
    },
  };
}
