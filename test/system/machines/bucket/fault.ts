/** A request as faults choose by it. */
export interface BucketRequest {
  readonly method: string;
  /** Decoded, without the bucket's name; empty for a list. */
  readonly key: string;
  /** The access key ID of its signature: tells nodes apart where all have one address. */
  readonly accessKey: string;
  /** The address it came from: tells hosts apart. */
  readonly address: string;
}

/** Plain data, so that a process can be told. */
export type Fault = FaultKind & FaultScope;

type FaultKind =
  /** The connection is reset before anything is done. */
  | { readonly kind: "reset" }
  /** Later than it should be, and then as it should be. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The store refuses: 500, 503 and 403 are those that stores are known for. */
  | { readonly kind: "status"; readonly status: number }
  /** All is done, and the connection is reset in place of the answer. */
  | { readonly kind: "answer-lost" }
  /** Nothing is done, nothing is said, and the connection stays open. */
  | { readonly kind: "black-hole" };

/** Without any of these: every request. */
interface FaultScope {
  readonly methods?: readonly string[];
  /** Begin of the keys. */
  readonly prefix?: string;
  readonly accessKey?: string;
  readonly address?: string;
  /** So many requests and no more. */
  readonly times?: number;
}

/** Faults in force, in the order in which they were given; the first that fits a request is its fault. */
export class Faults {
  #all: { readonly fault: Fault; left: number }[] = [];

  set(faults: readonly Fault[]): void {
    this.#all = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  }

  take(request: BucketRequest): Fault | undefined {
    const found = this.#all.find(({ fault, left }) => left > 0 && fits(fault, request));
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.fault;
  }
}

const fits = ({ methods, prefix, accessKey, address }: FaultScope, request: BucketRequest): boolean =>
  (methods?.includes(request.method) ?? true) &&
  (prefix === undefined || request.key.startsWith(prefix)) &&
  (accessKey ?? request.accessKey) === request.accessKey &&
  (address ?? request.address) === request.address;
