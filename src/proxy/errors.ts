import type { Move } from "../routing/table.ts";

/**
 * The fault between the gateway and an origin, in the terms of RFC 9209 §2.3, for `proxy-status`, metrics and logs.
 * workerd tells little apart: a refused or reset connection and an answer that is no HTTP are all a connection that was lost.
 */
export type OriginFault =
  | "connection_refused"
  | "connection_terminated"
  | "connection_timeout"
  | "connection_write_timeout"
  | "destination_ip_unroutable"
  | "destination_unavailable"
  | "dns_error"
  | "http_protocol_error"
  | "http_response_incomplete"
  | "http_response_timeout"
  | "proxy_configuration_error"
  | "tls_certificate_error"
  | "tls_protocol_error";

/** Why a hop is refused: no valid keys here, not of its form, another key, changed on the way, or too old or too new. */
export type HopFault = "no-keys" | "form" | "unknown-key" | "changed" | "late";

/** Why a request did not get an answer from an origin. `region` is the last one tried. */
export type ProxyError =
  /** `isLong`: through too many gateways of a mesh. */
  | { readonly reason: "loop-detected"; readonly isLong?: boolean }
  | { readonly reason: "too-many-fields" }
  /** The client broke its body off, or framed it wrongly. */
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  /** The body is not the one that `content-digest` says. */
  | { readonly reason: "digest-mismatch" }
  /** The client stopped sending its body. */
  | { readonly reason: "request-timeout"; readonly idleMs: number }
  | { readonly reason: "answer-withheld"; readonly region: string; readonly why: string }
  | {
      readonly reason: "origin-unreachable";
      readonly region: string;
      readonly fault: OriginFault;
      readonly why: string;
    }
  /** The origin did answer. `what`: what makes its answer one that cannot be passed on. */
  | { readonly reason: "invalid-response"; readonly region: string; readonly what: string }
  | {
      readonly reason: "origin-timeout";
      readonly region: string;
      readonly which: "first-byte" | "body" | "upload" | "total";
      readonly deadlineMs: number;
    }
  /** Every origin that the request could go to has failed too often just before. */
  | { readonly reason: "origin-open-circuit"; readonly region: string; readonly retryAfterMs: number }
  /** An origin says that the entity is elsewhere, and the body is no longer at hand. */
  | { readonly reason: "body-too-large-to-replay"; readonly region: string; readonly bytesMax: number }
  /** An origin says that the entity is elsewhere, and that cannot be followed. */
  | { readonly reason: "origins-disagree"; readonly region: string; readonly why: string }
  /** A request that says it comes from a gateway of the mesh, and is not believed. */
  | { readonly reason: "hop-refused"; readonly why: HopFault }
  /** A gateway of the mesh does not serve what another one asks it for. `named`: where its own table says that the entity is. */
  | {
      readonly reason: "hop-misdirected";
      readonly region: string;
      readonly why: "not-served" | "moved" | "gone";
      readonly named?: string | undefined;
      readonly move?: Move | undefined;
    }
  /** Seen from where the request came in. `by`: what the other gateway said, if that can be followed. */
  | {
      readonly reason: "peers-disagree";
      readonly region: string;
      readonly why: string;
      readonly retryAfterMs: number;
      readonly by?: Extract<ProxyError, { readonly reason: "hop-misdirected" }>;
    }
  /** A write to an entity whose move has come to its last step. */
  | { readonly reason: "entity-moving"; readonly retryAfterMs: number };
