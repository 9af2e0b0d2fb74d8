import { entryOf, type Step, takeStep, type Whereabouts } from "../../src/cli/move-steps.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import type { Breach, ModelOrigin } from "./move-origins.ts";
import { ORDER } from "./passages.ts";

/**
 * The operator of docs/moving.md, with the steps that `waybill move` takes and a table for each revision. It does one thing
 * at a time, and anything may happen in between.
 */
export class ModelOperator {
  /** Declared tables by revision. */
  readonly published: object[] = [];
  /** The one region that may acknowledge writes; `undefined` while none may. */
  writer: string | undefined = "eu";
  private at: Whereabouts = { state: "routed", region: "eu" };
  /** Where the routes lead. */
  private routed = "eu";
  private epochMin = 1;
  private readonly work = this.live();
  private readonly origins: ReadonlyMap<string, ModelOrigin>;
  private readonly breach: Breach | undefined;
  private readonly onSwitch: (target: ModelOrigin) => void;

  constructor(
    origins: ReadonlyMap<string, ModelOrigin>,
    breach: Breach | undefined,
    onSwitch: (target: ModelOrigin) => void,
  ) {
    this.origins = origins;
    this.breach = breach;
    this.onSwitch = onSwitch;
    this.publish();
    this.work.next(0);
  }

  /** Does the next thing. What it decides, where it may, follows from the number. */
  act(choice: number): void {
    this.work.next(choice);
  }

  /** Whether no move is under way, and everyone was told. */
  isIdle = true;

  private *live(): Generator<undefined, never, number> {
    for (;;) {
      this.isIdle = true;
      const choice = yield;
      this.isIdle = false;
      const region = regionOf(this.at);
      if (this.at.state === "moved" && choice % 4 === 0) {
        this.routed = region;
        this.publish();
      } else if (this.at.state === "moved" && choice % 4 === 1) {
        this.step({ name: "finish", routed: this.routed });
      } else {
        const others = [...this.origins.keys()].filter((name) => name !== region);
        yield* this.move(region, others[choice % others.length] as string);
      }
    }
  }

  private *move(from: string, to: string): Generator<undefined, void, number> {
    const source = this.origin(from);
    const target = this.origin(to);
    this.step({ name: "start", to, epochMin: this.epochMin });
    if (isAbort(yield)) return yield* this.abort(source, target);
    const early = [...source.writes];
    const epoch = this.step({ name: "fence" });
    if (isAbort(yield)) return yield* this.abort(source, target);
    if (!source.fence(epoch)) return yield* this.abort(source, target);
    this.writer = undefined;
    if (isAbort(yield)) return yield* this.abort(source, target);
    if (!target.take(epoch, this.breach === "a copy before the fence" ? early : source.writes)) {
      return yield* this.abort(source, target);
    }
    if (this.breach === "a source that leaves before the switch") source.leave(to, epoch);
    if (isAbort(yield)) return yield* this.abort(source, target);
    const last = this.step({ name: "switch" });
    this.writer = to;
    this.onSwitch(target);
    yield;
    target.open(last);
    yield;
    source.leave(to, last);
  }

  private *abort(source: ModelOrigin, target: ModelOrigin): Generator<undefined, void, number> {
    const epoch = this.step({ name: "abort" });
    this.writer = source.name;
    // A region that refused an epoch said which one it knows.
    this.epochMin = Math.max(this.epochMin, source.epoch + 1, target.epoch + 1);
    yield;
    if (target.holds) target.leave(source.name, epoch);
    yield;
    source.open(epoch);
  }

  /** Publishes what a step makes of the table. Returns its epoch. */
  private step(step: Step): number {
    const after = takeStep(step, this.at);
    if (!after.ok) throw new Error(`${step.name}: ${after.error}`);
    this.at = after.value;
    this.publish();
    return "epoch" in this.at ? (this.at.epoch ?? 0) : 0;
  }

  private publish(): void {
    const entry = entryOf(this.at);
    this.published.push({
      ...DECLARED_TABLE,
      routes: [{ when: {}, region: this.routed }],
      ...(entry === undefined ? {} : { [entry.part]: { [ORDER]: entry.value } }),
    });
  }

  private origin(name: string): ModelOrigin {
    const origin = this.origins.get(name);
    if (origin === undefined) throw new Error(`no region ${name}`);
    return origin;
  }
}

const isAbort = (choice: number): boolean => choice % 6 === 0;

const regionOf = (at: Whereabouts): string => {
  if ("region" in at && at.region !== undefined) return at.region;
  throw new Error(`the entity is ${at.state}`);
};
