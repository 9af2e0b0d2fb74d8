/** The result of a core step: a value or an error. The core never throws on bad input. */
export type Result<Value, Failure> = Ok<Value> | Err<Failure>;

export interface Ok<Value> {
  readonly ok: true;
  readonly value: Value;
}

export interface Err<Failure> {
  readonly ok: false;
  readonly error: Failure;
}

export const ok = <Value>(value: Value): Ok<Value> => ({ ok: true, value });

export const err = <Failure>(error: Failure): Err<Failure> => ({ ok: false, error });

/** The words of something thrown, for errors of the core that carry them as evidence. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
