import { movedMemory } from "../../../src/edge/origins/moved-memory.ts";
import type { MovedKey, MovedMemory } from "../../../src/ports/gateway.ts";
import { deliver } from "../../../src/proxy/deliver.ts";
import { type CompiledTable, loadTable } from "../../../src/routing/index.ts";
import { deps, ORDER, proxyRequest } from "../passages.ts";
import { ModelOperator } from "./move-operator.ts";
import { type Breach, ModelOrigin } from "./move-origins.ts";

/** One thing that happens. Numbers choose among what there is at that moment. */
export type Event =
  | { readonly kind: "write" | "read"; readonly gateway: number }
  /** A message on the network goes on: a request arrives at its origin, or an answer at its gateway. */
  | { readonly kind: "travel"; readonly which: number }
  | { readonly kind: "operate"; readonly choice: number }
  /** The routes lead elsewhere; the entity stays. */
  | { readonly kind: "reroute"; readonly choice: number }
  /** A command to a region comes again, however late. */
  | { readonly kind: "repeat"; readonly which: number }
  /** A gateway sees a later revision. */
  | { readonly kind: "refresh"; readonly gateway: number; readonly revision: number }
  /** A new isolate begins with what it finds: any revision, and nothing in memory. */
  | { readonly kind: "restart"; readonly gateway: number; readonly revision: number }
  | { readonly kind: "wait"; readonly seconds: number };

interface ModelGateway {
  revision: number;
  memory: MovedMemory;
  /** Regions that disowned the entity in answers to gateways with this memory. */
  disowners: Set<string>;
}

/** Regions, gateways and an operator that move one entity about, with the gateway's real table, fence, memory and delivery. */
export class MoveModel {
  readonly violations: string[] = [];
  readonly counts = { acknowledged: 0, refused: 0, forwarded: 0, reads: 0, switches: 0 };
  private nowMs = 1_000_000;
  private readonly acknowledged = new Set<string>();
  private readonly travelling: (() => void)[] = [];
  private underWay = 0;
  private readonly origins: ReadonlyMap<string, ModelOrigin>;
  private readonly operator: ModelOperator;
  private readonly gateways: readonly ModelGateway[];
  private readonly deliver: typeof deliver;
  private readonly breach: Breach | undefined;
  private written = 0;

  constructor(breach?: Breach) {
    this.origins = new Map(
      ["eu", "us", "ap"].map((name) => [
        name,
        new ModelOrigin(name, name === "eu", breach, (...on) => this.onWrite(...on)),
      ]),
    );
    this.operator = new ModelOperator(this.origins, breach, (target) => this.onSwitch(target));
    this.breach = breach;
    this.deliver = breach === "a gateway that follows again" ? deliverAgain : deliver;
    // Two of them are at one location, and share what they remember.
    const shared = this.newMemory();
    this.gateways = [shared, shared, this.newMemory()].map((known) => ({ revision: 0, ...known }));
  }

  async run(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      this.happen(event);
      await settle();
    }
    while (!this.operator.isIdle) this.operator.act(1);
    await this.arrive();
    this.checkWrites("at the end");
    await this.checkReads();
  }

  /** Everything on the network comes to its end. */
  private async arrive(): Promise<void> {
    while (this.travelling.length > 0) {
      this.travelling.shift()?.();
      await settle();
    }
    if (this.underWay > 0) this.violations.push(`${this.underWay} requests without an answer`);
  }

  /** With the last table every gateway finds the entity, when the time of what it remembers is over. */
  private async checkReads(): Promise<void> {
    this.nowMs += 3_600_000;
    const before = this.counts.reads;
    for (const gateway of this.gateways) {
      gateway.revision = this.operator.published.length - 1;
      this.send(gateway, undefined);
      await settle();
      await this.arrive();
    }
    const found = this.counts.reads - before;
    if (found < this.gateways.length) this.violations.push(`${found} gateways find the entity at the end`);
  }

  private happen(event: Event): void {
    const last = this.operator.published.length - 1;
    switch (event.kind) {
      case "write":
      case "read":
        this.send(this.gateway(event.gateway), event.kind === "write" ? `w${this.written++}` : undefined);
        break;
      case "travel": {
        const [move] = this.travelling.splice(event.which % Math.max(1, this.travelling.length), 1);
        move?.();
        break;
      }
      case "operate":
        this.operator.act(event.choice);
        break;
      case "reroute":
        this.operator.reroute(event.choice);
        break;
      case "repeat":
        this.operator.repeat(event.which);
        break;
      case "refresh": {
        const gateway = this.gateway(event.gateway);
        gateway.revision += event.revision % (last - gateway.revision + 1);
        break;
      }
      case "restart": {
        const gateway = this.gateway(event.gateway);
        gateway.revision = event.revision % (last + 1);
        Object.assign(gateway, this.newMemory());
        break;
      }
      case "wait":
        this.nowMs += event.seconds * 1000;
    }
  }

  /** A request at a gateway, which decides by the table that it has now. */
  private send({ revision, memory, disowners }: ModelGateway, write: string | undefined): void {
    const table = compiled(this.operator.published[revision] as object, revision);
    const request = new Request(`https://gw.test/orders/${ORDER}`, {
      method: write === undefined ? "GET" : "PUT",
      headers: write === undefined ? {} : { "x-write": write },
    });
    const sent = proxyRequest(table, request);
    const decided = sent.decision.target.region.name;
    const ask = async (one: Request): Promise<Response> => {
      const region = hostRegion(one);
      const isReported = region === decided || disowners.has(decided);
      if (asked.length === 1 && !isReported)
        this.violations.push(`${region} was asked, where the table says ${decided}`);
      const answer = await this.travel(one);
      if (answer.status === 421) disowners.add(region);
      return answer;
    };
    const { world: given, asked } = deps(table, ask, {
      movedMemory: memory,
      clock: { nowMs: () => this.nowMs },
    });
    this.underWay += 1;
    void this.deliver(sent, given).then((delivered) => {
      this.underWay -= 1;
      if (asked.length > 2) this.violations.push(`forwarded more than once: ${asked.join(", ")}`);
      if (asked.length > 1) this.counts.forwarded += 1;
      if (!delivered.ok) {
        this.counts.refused += 1;
        return;
      }
      const { status } = delivered.value.response;
      if (status === 421) this.violations.push("a client saw a 421");
      if (status === 404) this.violations.push(`sent to ${delivered.value.region.name}, which has not got the entity`);
      if (status === 503) this.counts.refused += 1;
      if (status === 200 && write === undefined) this.counts.reads += 1;
      if (status === 200 && write !== undefined) this.counts.acknowledged += 1;
    });
  }

  private travel(request: Request): Promise<Response> {
    return new Promise((resolve) => {
      this.travelling.push(() => {
        const answer = this.origins.get(hostRegion(request))?.answer(request);
        if (answer === undefined) throw new Error(`no origin ${request.url}`);
        this.travelling.push(() => resolve(answer));
      });
    });
  }

  /** An origin has acknowledged a write, whether or not the answer still reaches the client. */
  private onWrite({ name }: ModelOrigin, write: string): void {
    this.acknowledged.add(write);
    const { writer } = this.operator;
    if (name !== writer)
      this.violations.push(`${write} was acknowledged in ${name}, where ${writer ?? "nobody"} writes`);
  }

  private onSwitch({ name }: ModelOrigin): void {
    this.counts.switches += 1;
    this.checkWrites(`after the switch to ${name}`);
  }

  private checkWrites(when: string): void {
    const { writer } = this.operator;
    const owner = writer === undefined ? undefined : this.origins.get(writer);
    if (owner === undefined) throw new Error(`nobody has the entity ${when}`);
    const lost = [...this.acknowledged].filter((write) => !owner.writes.has(write));
    if (lost.length > 0) this.violations.push(`${lost.join(", ")} lost ${when}`);
  }

  private gateway(number: number): ModelGateway {
    return this.gateways[number % this.gateways.length] as ModelGateway;
  }

  private newMemory(): Pick<ModelGateway, "memory" | "disowners"> {
    const memory = movedMemory({
      clock: { nowMs: () => this.nowMs },
      cache: undefined,
      namespace: "one",
      waitUntil: () => undefined,
    });
    const isBlind = this.breach === "a gateway that holds every table to what was said to one";
    return { memory: isBlind ? blind(memory) : memory, disowners: new Set() };
  }
}

/** Does not know for which region the table had decided. */
const blind = ({ recall, remember, forget }: MovedMemory): MovedMemory => {
  const ofAny = (key: MovedKey): MovedKey => ({ ...key, decided: "any" });
  return {
    isEmpty: false,
    recall: (key) => recall(ofAny(key)),
    remember: (key, region, seconds) => remember(ofAny(key), region, seconds),
    forget: (key) => forget(ofAny(key)),
  };
};

const hostRegion = (request: Request): string => new URL(request.url).host.split(/[.-]/)[0] ?? "";

/** Tries once more where no origin takes the entity. */
const deliverAgain: typeof deliver = async (request, given) => {
  const delivered = await deliver(request, given);
  const isRefused = !delivered.ok && delivered.error.reason === "origins-disagree";
  return isRefused ? deliver(request, given) : delivered;
};

/** All that is waiting without a message from elsewhere goes on. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn++) await undefined;
};

const tables = new Map<string, CompiledTable>();

const compiled = (declared: object, revision: number): CompiledTable => {
  const key = `${revision} ${JSON.stringify(declared)}`;
  const known = tables.get(key);
  if (known !== undefined) return known;
  const table = loadTable(declared, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  tables.set(key, table.value);
  return table.value;
};
