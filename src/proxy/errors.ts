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

/** Why a request did not get an answer from an origin. `region` is the last one tried. */
export type ProxyError =
  | { readonly reason: "loop-detected" }
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
  /** A write to an entity whose move has come to its last step. */
  | { readonly reason: "entity-moving"; readonly retryAfterMs: number };
