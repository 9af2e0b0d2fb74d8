/** Why one of the gateway's own endpoints does not take a request. */
export type RequestError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | { readonly reason: "not-found"; readonly path: string }
  | { readonly reason: "method-not-allowed"; readonly method: string; readonly allow: readonly string[] }
  | { readonly reason: "body-too-large"; readonly bytesMax: number }
  | { readonly reason: "precondition-required" }
  | {
      readonly reason: "unknown-name";
      readonly what: string;
      readonly name: string;
      readonly known: readonly string[];
    }
  | { readonly reason: "region-unknown"; readonly path: string; readonly sources: readonly string[] }
  | {
      readonly reason: "rate-limited";
      readonly limit: "client" | "entity" | "lookup";
      readonly retryAfterSeconds: number;
    }
  | { readonly reason: "forbidden"; readonly why: "scope"; readonly needs: "viewer" | "operator" }
  | { readonly reason: "forbidden"; readonly why: "cross-site" }
  | { readonly reason: "transfer-coding-unsupported" }
  | { readonly reason: "internal-error" };
