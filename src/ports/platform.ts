import type { Signable } from "../proxy/signature.ts";

/** The runtime and the client, as far as it vouches for them. */

/** Unix time. In a Worker it does not advance between I/O, and it may step back. */
export interface Clock {
  nowMs(): number;
}

/** Cryptographically strong: one uniformly random unsigned 32-bit word a call. */
export interface Entropy {
  word(): number;
}

/** How a request reaches an origin, through a binding if one is named. One that is not there rejects with `MissingBinding`. */
export type Fetch = (target: string | Request, init?: RequestInit, binding?: string) => Promise<Response>;

/** The client, as far as the platform can vouch for it. */
export interface Client {
  readonly address: string | undefined;
  /** ISO 3166-1 alpha-2, where the platform knows it. */
  readonly country: string | undefined;
  /** AF, AN, AS, EU, NA, OC or SA, where the platform knows it. */
  readonly continent: string | undefined;
  /** How the client asked, where a trusted proxy says so. */
  readonly scheme?: "http" | "https" | undefined;
  readonly host?: string | undefined;
}

/** Whether one more request may come from a key now. */
export interface RateLimit {
  /** The greatest burst; `undefined` where it is not known. */
  readonly max: number | undefined;
  /** 0 if `count` requests may come, and counts them; else the most seconds until they may. */
  waitSeconds(key: string, count?: number): Promise<number>;
}

/** The limits that the deployment has bound, by the client's address; absent ones are off. */
export interface RateLimits {
  readonly client: RateLimit | undefined;
  /** By entity as well. */
  readonly entity: RateLimit | undefined;
  /** The limit of look-ups under `/any` and `/-/ids`. */
  readonly lookup: RateLimit | undefined;
}

/** Fields of requests and responses that stop at the gateway: names in lower case, as the deployment has set them. */
export interface FieldRules {
  readonly stopped: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
}

/** How a deployment names itself in `cdn-loop` (RFC 8586 §2), and in `via` (RFC 9110 §7.6.3). */
export type Pseudonym = Readonly<{ name: string; via: string }>;

/** A hash of bytes that come one after the other. */
export interface RunningHash {
  update(bytes: Uint8Array): Promise<void>;
  /** Called once, after the last of them. */
  digest(): Promise<ArrayBuffer>;
}

export type { Signable } from "../proxy/signature.ts";

/** The value of `waybill-signature` for one request to an origin. */
export type Sign = (what: Signable) => Promise<string>;
