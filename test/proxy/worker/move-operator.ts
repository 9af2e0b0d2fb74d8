import { droppedEpoch, type EntityLocation, entryOf, type Step, takeStep } from "../../../src/routing/moves/steps.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { ORDER } from "../passages.ts";
import type { Breach, ModelOrigin } from "./move-origins.ts";

/**
 * The operator of docs/guides/move-entities.md, with the steps that `waybill move` takes and a table for each revision. It does one thing
 * at a time, and anything may happen in between.
 */
export class ModelOperator {
  /** Declared tables by revision. */
  readonly published: object[] = [];
  /** The one region that may acknowledge writes; `undefined` while none may. */
  writer: string | undefined = "eu";
  private at: EntityLocation = { state: "routed", region: "eu" };
  /** Where the routes lead. */
  private routed = "eu";
  private epochFloor = 0;
  private readonly commands: (() => boolean)[] = [];
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
    this.step({ name: "start", to, epochMin: this.epochFloor + 1 });
    if (isAbort(yield)) return yield* this.abort(source, target);
    const early = [...source.writes];
    // The fence that counts is the source's: the table need not show it.
    const epoch = this.step({ name: "fence" }, (yield) % 3 !== 0);
    if (isAbort(yield)) return yield* this.abort(source, target);
    if (!this.tell(() => source.fence(epoch))) return yield* this.abort(source, target);
    this.writer = undefined;
    if (isAbort(yield)) return yield* this.abort(source, target);
    const copy = this.breach === "a copy before the fence" ? early : [...source.writes];
    if (!this.tell(() => target.take(epoch, copy))) return yield* this.abort(source, target);
    if (this.breach === "a source that leaves before the switch") source.leave(to, epoch);
    if (isAbort(yield)) return yield* this.abort(source, target);
    const last = this.step({ name: "switch" });
    this.writer = to;
    this.onSwitch(target);
    yield;
    this.tell(() => target.open(last));
    yield;
    this.tell(() => source.leave(to, last));
  }

  private *abort(source: ModelOrigin, target: ModelOrigin): Generator<undefined, void, number> {
    const epoch = this.step({ name: "abort" });
    this.writer = source.name;
    yield;
    if (target.holds) this.tell(() => target.leave(source.name, epoch));
    yield;
    this.tell(() => source.open(epoch));
  }

  /** Whether the region obeys. */
  private tell(command: () => boolean): boolean {
    this.commands.push(command);
    return command();
  }

  /** Routes may change at any time in which the table says by itself where the entity is. */
  reroute(choice: number): void {
    if (entryOf(this.at) === undefined) return;
    const names = [...this.origins.keys()];
    this.routed = names[choice % names.length] as string;
    this.publish();
  }

  repeat(which: number): void {
    this.commands[which % this.commands.length]?.();
  }

  /** Takes a step, and publishes the table. Returns its epoch. */
  private step(step: Step, isPublished = true): number {
    const after = takeStep(step, this.at);
    if (!after.ok) throw new Error(`${step.name}: ${after.error}`);
    if (this.breach !== "an operator who forgets epochs") {
      this.epochFloor = Math.max(this.epochFloor, droppedEpoch([{ before: this.at, after: after.value }]));
    }
    this.at = after.value;
    if (isPublished) this.publish();
    return "epoch" in this.at ? (this.at.epoch ?? 0) : 0;
  }

  private publish(): void {
    const entry = entryOf(this.at);
    this.published.push({
      ...DECLARED_TABLE,
      routes: [{ when: {}, region: this.routed }],
      ...(this.epochFloor === 0 ? {} : { epochFloor: this.epochFloor }),
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

const regionOf = (at: EntityLocation): string => {
  if ("region" in at && at.region !== undefined) return at.region;
  throw new Error(`the entity is ${at.state}`);
};
