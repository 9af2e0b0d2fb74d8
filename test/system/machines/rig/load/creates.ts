import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { COUNTRY_CODES } from "../table.ts";
import { type Answered, askOneOf, type Target } from "./ask.ts";
import { Paced } from "./paced.ts";
import { Counting, quantileOf, type Tally } from "./tally.ts";

export interface CreatesReport extends Tally {
  readonly acknowledged: number;
  /** Keys that no answer was had for, however long their client went on. */
  readonly givenUp: number;
  readonly p50Ms: number;
}

export interface Verified {
  /** Acknowledged creates whose key now gives another entity, or whose entity no origin has: each in words. */
  readonly lost: readonly string[];
  readonly keysWithTwo: readonly string[];
}

/** An acknowledged create, as its client holds it. */
interface Acknowledged {
  readonly key: string;
  readonly country: string;
  readonly entity: string;
  /** Unix time of the request that was answered. */
  readonly startedAtMs: number;
}

const DEADLINE_MS = 10_000;
/** A client waits longer each time: hundreds that ask again each second would keep two cores from the state's recovery. */
const RETRY_MS = 500;
const RETRY_MAX_MS = 8_000;
/** A client gives up after this. */
const PATIENCE_MS = 150_000;
const VERIFIERS = 8;

/** Keyed creates, each retried with its key at one edge after the other until it is acknowledged. */
export class Creates {
  readonly #counting = new Counting();
  readonly #paced: Paced;
  readonly #targets: readonly Target[];
  readonly #acknowledged: Acknowledged[] = [];
  readonly #ms: number[] = [];
  #givenUp = 0;
  readonly #openSinceMs = new Map<number, number>();

  constructor(targets: readonly Target[], perSecond: number) {
    this.#targets = targets;
    this.#paced = new Paced(perSecond, async (at) => {
      this.#openSinceMs.set(at, Date.now());
      await this.#create(at).finally(() => this.#openSinceMs.delete(at));
    });
    this.#paced.start();
  }

  stop = () => this.#paced.stop();

  report(): CreatesReport {
    return {
      ...this.#counting.tally(),
      acknowledged: this.#acknowledged.length,
      givenUp: this.#givenUp,
      p50Ms: quantileOf(this.#ms, 0.5),
    };
  }

  /** Age of the oldest create that is not acknowledged yet. */
  oldestOpenMs = (): number => Date.now() - Math.min(Date.now(), ...this.#openSinceMs.values());

  /** Unix time at which the first create began that was answered, from a time on. */
  firstFrom(fromMs: number): number | undefined {
    const after = this.#acknowledged.map(({ startedAtMs }) => startedAtMs).filter((ms) => ms >= fromMs);
    return after.length === 0 ? undefined : Math.min(...after);
  }

  async #create(at: number): Promise<void> {
    const key = randomUUID();
    const country = COUNTRY_CODES[at % COUNTRY_CODES.length] as string;
    const untilMs = Date.now() + PATIENCE_MS;
    for (let turn = at, waitMs = RETRY_MS; Date.now() < untilMs; turn++) {
      const answer = await this.#ask(turn, key, country);
      this.#counting.add(answer.outcome, answer.status === 201, answer.startedAtMs);
      if (answer.status === 201) {
        this.#ms.push(answer.ms);
        const entity = String(answer.headers["waybill-entity-id"]);
        this.#acknowledged.push({ key, country, entity, startedAtMs: answer.startedAtMs });
        return;
      }
      await delay(waitMs * (0.75 + Math.random() / 2));
      waitMs = Math.min(waitMs * 1.5, RETRY_MAX_MS);
    }
    this.#givenUp += 1;
  }

  #ask(turn: number, key: string, country: string): Promise<Answered> {
    return askOneOf(this.#targets, turn, {
      method: "POST",
      path: "/orders",
      headers: { "idempotency-key": key, "x-country": country },
      body: JSON.stringify({ key }),
      deadlineMs: DEADLINE_MS,
    });
  }

  keys = (): readonly string[] => this.#acknowledged.map(({ key }) => key);

  /** Asks each acknowledged create again with its key. `atOrigins`: the entities that the origins have, by `keys`. */
  async verify(atOrigins: readonly (readonly string[])[]): Promise<Verified> {
    const lost: string[] = [];
    const all = this.#acknowledged;
    const keysWithTwo = all.flatMap(({ key }, at) => ((atOrigins[at]?.length ?? 0) > 1 ? [key] : []));
    for (const [at, { key, entity }] of all.entries()) {
      if (!atOrigins[at]?.includes(entity)) lost.push(`${key}: no origin has ${entity}, but ${atOrigins[at]?.join()}`);
    }
    let next = 0;
    const verifier = async () => {
      for (let at = next++; at < all.length; at = next++) {
        const { key, country, entity } = all[at] as Acknowledged;
        const again = await this.#again(at, key, country);
        const found = again.headers["waybill-entity-id"];
        if (again.status !== 201 || found !== entity) lost.push(`${key}: ${entity}, then ${again.outcome} ${found}`);
      }
    };
    await Promise.all(Array.from({ length: VERIFIERS }, verifier));
    return { lost, keysWithTwo };
  }

  /** A key whose answer was not written down is held for a while: then it gives its entity all the same. */
  async #again(at: number, key: string, country: string): Promise<Answered> {
    const untilMs = Date.now() + PATIENCE_MS;
    for (let turn = 0; ; turn++) {
      const answer = await this.#ask(at + turn, key, country);
      if (!isPassing(answer.status) || Date.now() > untilMs) return answer;
      await delay(RETRY_MS);
    }
  }
}

const isPassing = (status: number): boolean => status === 0 || status === 409 || status === 503;
