/** A problem type (RFC 9457). */
export interface ProblemForm {
  readonly status: number;
  readonly title: string;
}

/** The rest of its page. */
export interface ProblemTexts {
  readonly meaning: string;
  readonly remedy: string;
}

/** Names of evidence that a problem repeats, or what makes its members. */
export type Members<Error> =
  | readonly (Error extends unknown ? keyof Error : never)[]
  | ((error: Error) => Readonly<Record<string, unknown>>);

/** The problem of one error, all in one place. `members`: the extensions, in this order; the rest of an error stays inside. */
export interface FeatureProblem<Error> extends ProblemForm {
  readonly detail: string | ((error: Error) => string);
  readonly members?: Members<Error>;
  /** Whether only a request with another idempotency key could be done. */
  readonly needsNewKey?: boolean;
}

/** A problem for each error of a feature: one that is missing is an error of types. */
export type ProblemsOf<Error extends { readonly reason: string }> = {
  readonly [Reason in Error["reason"]]: FeatureProblem<Extract<Error, { readonly reason: Reason }>>;
};

/** The texts of each, apart from what a start loads. */
export type TextsOf<Error extends { readonly reason: string }> = Readonly<Record<Error["reason"], ProblemTexts>>;

const ECHO_CHARACTERS_MAX = 128;

/** Safe to repeat: no longer than people read. */
export const shorten = (text: string) =>
  text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
