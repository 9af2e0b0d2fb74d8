import { type DecideInput, decideEntity, deciderOf, type Outcome } from "../../../gateway/decide.ts";
import type { LoadFailure } from "../../../gateway/feature.ts";
import { decideFor } from "../../../gateway/loading.ts";
import { parseJson } from "../../../routing/index.ts";
import type { Target } from "../../../routing/table.ts";
import { PAGE_BYTES_MAX, PAGES_BYTES_MAX } from "../table/limits.ts";
import type { ListOrder } from "../table/types.ts";
import type { LastItem, Mark, SourceState } from "./cursor.ts";
import { fetchPage, type ListRun, type PageFailure } from "./fetch.ts";
import { comparePositions, idTextOf, keyTextOf, type Position, positionOf } from "./order.ts";
import type { RegionFault } from "./page.ts";

/** An item that counts. */
export interface Item {
  /** On one line. */
  readonly text: string;
  /** In a list without an order the key is empty. */
  readonly at: Position;
}

/** A list has no end after this many pages without an item that counts. */
const EMPTY_PAGES_MAX = 200;

/** Look-ups of owners that wait together. */
const LOOK_AHEAD = 32;

/** One region's list, page by page. `head` is its next item. */
export class RegionList {
  readonly region: string;
  state: SourceState;
  /** Why it is missing. */
  fault: RegionFault | undefined;
  /** An origin's own refusal, instead of its first page. */
  refusal: Response | undefined;
  head: Item | undefined;
  /** Items that were answered, and those that are another region's by the table. */
  given = 0;
  elsewhere = 0;
  /** Whether it needs a page and none may be asked for any more. */
  isPaused = false;
  readonly #run: ListRun;
  readonly #target: Target;
  #page: string | undefined;
  #next: string | undefined;
  /** Bytes of the page in use, and of one that is read. */
  #bytes = 0;
  /** `undefined` before the page in use was read. */
  #items: readonly string[] | undefined;
  #at = 0;
  /** Items of the page that an earlier answer passed. */
  readonly #skip: number;
  readonly #skippedPage: string | undefined;
  /** Up to here the client has all items. */
  readonly #bound: Position | undefined;
  /** The last item that was seen, and the last that was answered. */
  #seen: Position | undefined;
  #last: LastItem | undefined;
  /** IDs of this page and the one before: a list by offset repeats some when items are added meanwhile. */
  #ids = new Set<string>();
  #idsBefore = new Set<string>();
  /** Pages that were asked for: to come back to one would have no end. */
  readonly #pages = new Set<string | undefined>();
  #emptyPages = 0;
  #lookedUpTo = 0;

  constructor(run: ListRun, target: Target, mark: Mark, bound: LastItem | undefined) {
    this.#run = run;
    this.#target = target;
    this.region = mark.region;
    this.state = mark.state;
    this.#page = this.#skippedPage = mark.page;
    this.#skip = mark.taken;
    // One that is missing lacks all behind its own last item.
    this.#last = mark.after ?? (mark.state === "missing" ? undefined : bound);
    const { order } = run.list;
    this.#bound = order && this.#last && positionOf(...this.#last, order.type);
  }

  /** How far the client is with it. */
  get mark(): Mark {
    const { order } = this.#run.list;
    // The next item is on the page in use, unless that was used up.
    const isUsedUp = this.#items !== undefined && this.head === undefined && this.#at >= this.#items.length;
    const isNext = isUsedUp && this.#next !== undefined && this.state === "open";
    const isUnread = this.#items === undefined;
    const at = isUnread ? (this.#page === this.#skippedPage ? this.#skip : 0) : this.#at - (this.head ? 1 : 0);
    return {
      region: this.region,
      state: this.state,
      page: this.state === "done" ? undefined : isNext ? this.#next : this.#page,
      taken: order !== undefined || isNext || this.state === "done" ? 0 : at,
      after: this.state === "missing" || (this.state === "open" && this.#run.isGap) ? this.#last : undefined,
    };
  }

  /** Whether its head cannot be had without a request. */
  get needsPage(): boolean {
    return this.head === undefined && this.#at >= (this.#items?.length ?? 0);
  }

  /** Takes the head. */
  shift(): Item {
    const { head } = this;
    if (head === undefined) throw new Error("a list is at its end");
    this.head = undefined;
    this.given++;
    this.#last = [head.at.keyText, head.at.id];
    if (this.#next === undefined && this.needsPage) this.state = "done";
    return head;
  }

  /** Sees to the head, as long as the list is open; a promise where something must be waited for. */
  advance(): undefined | Promise<void> {
    while (this.head === undefined && this.state === "open") {
      const text = this.#items?.[this.#at];
      if (text === undefined) {
        if (this.#items !== undefined && this.#next === undefined) {
          this.state = "done";
          return undefined;
        }
        this.isPaused = this.#run.pagesLeft <= 0;
        return this.isPaused ? undefined : this.#turn().then(() => this.advance());
      }
      this.#at++;
      const later = this.#read(text);
      if (later !== undefined) return later.then(() => this.advance());
    }
    return undefined;
  }

  /** Counts bytes of a page; false without room. A list that goes on has more than one that begins. */
  readonly #reserve = (bytes: number): boolean => {
    this.#bytes += bytes;
    return this.#run.load.add(bytes) <= (this.given === 0 ? PAGES_BYTES_MAX : PAGES_BYTES_MAX + PAGE_BYTES_MAX);
  };

  #fail(fault: RegionFault, refusal?: Response): void {
    this.#reserve(-this.#bytes);
    this.fault = fault;
    this.refusal = refusal;
    this.state = "missing";
    this.head = undefined;
  }

  /** Fetches the first page, or the next one. */
  async #turn(): Promise<void> {
    if (this.#items !== undefined) {
      if (!(await this.#run.mayAsk())) {
        this.#run.pagesLeft = 0;
        return;
      }
      this.#page = this.#next;
      this.#emptyPages++;
    }
    this.#items = undefined;
    this.#reserve(-this.#bytes);
    this.#lookedUpTo = 0;
    if (this.#pages.has(this.#page) || this.#emptyPages > EMPTY_PAGES_MAX) return this.#fail("endless-pages");
    this.#pages.add(this.#page);
    this.#at = 0;
    this.#run.pagesLeft--;
    const page = await fetchPage(this.#run, this.#target, this.#page, this.#reserve);
    if ("fault" in page) return this.#fail(page.fault, this.given === 0 ? (page as PageFailure).own : undefined);
    this.#items = page.items;
    this.#next = page.next;
    this.#idsBefore = this.#ids;
    this.#ids = new Set();
    const isSkipped = this.#skip > 0 && this.#page === this.#skippedPage;
    if (isSkipped && this.#run.list.order === undefined) this.#at = Math.min(this.#skip, page.items.length);
  }

  /** Takes an item of the page; a promise where it must be waited for who owns it. */
  #read(text: string): undefined | Promise<void> {
    const { list, served, context } = this.#run;
    let item: unknown;
    try {
      item = JSON.parse(text);
    } catch {
      return this.#take("malformed-page");
    }
    const id = idTextOf(item, text, list.id);
    if (id === undefined) return this.#take("item-without-id");
    const { gateway, arrivedAtMs: nowMs } = context;
    const decide = (input: DecideInput) => decideEntity(input, list.entity.name, id);
    const outcome = decide({ tables: served, ports: gateway, layoutName: undefined, nowMs });
    if (outcome.kind !== "load") return this.#take(this.#itemOf(outcome, item, text));
    return this.#lookAhead()
      .then(() => decideFor(context, served, decide))
      .then((later) => this.#take(this.#itemOf(later, item, text)));
  }

  /** Where an owner must be looked up, those of the next items are too, and wait together. */
  async #lookAhead(): Promise<void> {
    if (this.#at <= this.#lookedUpTo) return;
    const { list, served, context } = this.#run;
    const texts = this.#items?.slice(this.#at, this.#at + LOOK_AHEAD) ?? [];
    this.#lookedUpTo = this.#at + texts.length;
    const ids = texts.flatMap((text) => idTextOf(parseJson(text), text, list.id) ?? []);
    const { name } = list.entity;
    await Promise.all(ids.map((id) => decideFor(context, served, (input) => decideEntity(input, name, id))));
  }

  #take(item: Item | RegionFault | undefined): undefined {
    if (typeof item === "string") this.#fail(item);
    else if (item !== undefined) {
      this.#emptyPages = 0;
      this.head = item;
    }
  }

  /** An item counts only from the region that owns its ID by the table now: one that was moved is shown once. */
  #itemOf(outcome: Outcome | LoadFailure, item: unknown, text: string): Item | RegionFault | undefined {
    const fault = outcome.kind === "error" ? faultWithoutOwner(outcome.error.reason) : undefined;
    if (fault !== undefined) return fault;
    if (outcome.kind !== "region" || outcome.decision.target.region.name !== this.region) {
      this.elsewhere++;
      return undefined;
    }
    const { canonical } = outcome.decision;
    const at = this.#positionOf(outcome, item, text);
    if (at === undefined) return "item-without-key";
    if (this.#ids.has(canonical) || this.#idsBefore.has(canonical)) return undefined;
    this.#ids.add(canonical);
    const { order } = this.#run.list;
    if (order !== undefined) {
      if (this.#seen !== undefined && comparePositions(at, this.#seen, order) <= 0) return "out-of-order";
      this.#seen = at;
      if (this.#bound !== undefined && comparePositions(at, this.#bound, order) <= 0) return undefined;
    }
    // JSON has no line end within a string.
    return { text: /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, " ") : text, at };
  }

  /** `undefined` without a key to sort by. */
  #positionOf(outcome: InRegion, item: unknown, text: string): Position | undefined {
    const { order } = this.#run.list;
    const keyText = order === undefined ? "" : this.#keyTextOf(outcome, item, text, order);
    return keyText === undefined ? undefined : positionOf(keyText, outcome.decision.canonical, order?.type ?? "string");
  }

  #keyTextOf(
    { decision: { layout, words }, byCanary }: InRegion,
    item: unknown,
    text: string,
    { path, type }: ListOrder,
  ): string | undefined {
    if (path !== undefined) return keyTextOf(item, text, path, type);
    return deciderOf(this.#run.served, byCanary).layouts.get(layout)?.layout.mintedAtMs?.(words)?.toString();
  }
}

type InRegion = Extract<Outcome, { readonly kind: "region" }>;

/** The fault of an item whose owner cannot be told. One that belongs nowhere is only not of its region. */
function faultWithoutOwner(reason: string): RegionFault | undefined {
  if (reason === "malformed-id") return "item-without-id";
  return reason.endsWith("-unavailable") ? "owner-unknown" : undefined;
}
