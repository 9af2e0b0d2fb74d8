/** Why a request did not get an answer from an origin. `region` is the last one tried. */
export type ProxyError =
  | { readonly reason: "loop-detected" }
  | { readonly reason: "answer-withheld"; readonly region: string; readonly why: string }
  | { readonly reason: "origin-unreachable"; readonly region: string; readonly why: string }
  | { readonly reason: "origin-timeout"; readonly region: string; readonly deadlineMs: number };
