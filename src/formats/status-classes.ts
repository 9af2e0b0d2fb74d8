/** Classes of answers. Apart from the verdict, since every start counts by them. */

/**
 * `404` and `421` stand alone: they are what a wrong region answers. `elsewhere`: answered by another region than the table
 * says, because an origin said so in a 421, or by failover. `left`: the client did not wait for the answer. `4xx`: the others.
 */
export const STATUS_CLASSES = ["2xx", "3xx", "404", "421", "4xx", "5xx", "elsewhere", "left"] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

export type ClassCounts = Readonly<Record<StatusClass, number>>;

/** How a request ended. */
export interface AnswerOutcome {
  readonly status: number;
  /** `answered` by an origin, `own` for the gateway's own pages, or the slug of the problem. */
  readonly outcome: string;
  /** An own page, or one of the console's host: no client of an entity asked. */
  readonly isOwn?: boolean | undefined;
  /** Another region answered than the one decided on. */
  readonly isElsewhere?: boolean | undefined;
}

/** A problem of the gateway counts by its status: for the client it is one. */
export function classOf({ status, outcome, isElsewhere }: AnswerOutcome): StatusClass {
  if (outcome === "client-left") return "left";
  if (status >= 500) return "5xx";
  if (status === 404) return "404";
  if (status === 421) return "421";
  if (status >= 400) return "4xx";
  if (isElsewhere === true) return "elsewhere";
  return status >= 300 ? "3xx" : "2xx";
}
