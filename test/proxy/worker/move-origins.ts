/** Ways in which a deployment may break the protocol of docs/guides/move-entities.md. The model must notice each. */
export type Breach =
  | "a source that ignores the epoch"
  | "a copy before the fence"
  | "a target that takes writes before the switch"
  | "a region that takes commands of older steps"
  | "a source that leaves before the switch"
  | "a gateway that follows again"
  | "an operator who forgets epochs"
  | "a gateway that holds every table to what was said to one";

/** One region's origin as docs/guides/move-entities.md wants it, for one entity. */
export class ModelOrigin {
  readonly name: string;
  /** Writes that it has acknowledged or taken over. */
  readonly writes = new Set<string>();
  /** Whether it has the entity's data. */
  holds: boolean;
  /** Told by `421`. */
  private left: string | undefined;
  /** Writes with this epoch or a lower one are refused; 0 for none. */
  private fencedUpTo = 0;
  /** The highest epoch that it was told, by requests or by the operator. */
  epoch = 0;
  private readonly breach: Breach | undefined;
  private readonly onWrite: (origin: ModelOrigin, write: string) => void;

  constructor(
    name: string,
    holds: boolean,
    breach: Breach | undefined,
    onWrite: (origin: ModelOrigin, write: string) => void,
  ) {
    this.name = name;
    this.holds = holds;
    this.breach = breach;
    this.onWrite = onWrite;
  }

  /** Looks at the epoch and acts in one transaction. */
  answer(request: Request): Response {
    const epoch = Number(request.headers.get("waybill-epoch") ?? 0);
    if (this.left !== undefined) {
      return new Response(null, { status: 421, headers: { "waybill-region": this.left } });
    }
    if (!this.holds) return new Response(null, { status: 404 });
    this.epoch = Math.max(this.epoch, epoch);
    // Only a table that gives the entity to this region can have sent it here with more than the fence's epoch.
    if (epoch > this.fencedUpTo) this.fencedUpTo = 0;
    const write = request.headers.get("x-write");
    if (write === null) return new Response(null, { status: 200 });
    const isFenced = this.fencedUpTo > 0 && this.breach !== "a source that ignores the epoch";
    if (isFenced) return new Response(null, { status: 503, headers: { "retry-after": "2" } });
    this.writes.add(write);
    this.onWrite(this, write);
    return new Response(null, { status: 200 });
  }

  /** As the source: from here on no write of an older table. `false`, here and below: refused. */
  fence(epoch: number): boolean {
    if (!this.learn(epoch)) return false;
    this.fencedUpTo = epoch;
    return true;
  }

  /** As the target: everything that the source has, and no write until the table says so. */
  take(epoch: number, writes: Iterable<string>): boolean {
    if (!this.learn(epoch)) return false;
    this.writes.clear();
    for (const write of writes) this.writes.add(write);
    this.holds = true;
    this.left = undefined;
    this.fencedUpTo = this.breach === "a target that takes writes before the switch" ? 0 : epoch;
    return true;
  }

  /** It is the entity's region now. */
  open(epoch: number): boolean {
    if (!this.learn(epoch)) return false;
    this.fencedUpTo = 0;
    return true;
  }

  /** It is not, and who asks is told where to go. */
  leave(to: string, epoch: number): boolean {
    if (!this.learn(epoch)) return false;
    this.fencedUpTo = 0;
    this.left = to;
    this.holds = false;
    this.writes.clear();
    return true;
  }

  /** A command of an older step is refused: it came late, or the operator does not know what the region knows. */
  private learn(epoch: number): boolean {
    if (epoch < this.epoch && this.breach !== "a region that takes commands of older steps") return false;
    this.epoch = Math.max(this.epoch, epoch);
    return true;
  }
}
