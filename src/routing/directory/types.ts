import type { Target } from "../table.ts";
import type { KeyForm } from "./normalise.ts";

/** A directory of the table, compiled. */
export interface DirectoryPlan {
  readonly name: string;
  /** How texts become keys. `undefined`: keys are IDs, in their canonical text. */
  readonly form: KeyForm | undefined;
  /** How long a found key is taken from a cache. */
  readonly cacheSeconds: number;
  /** How long an absent key is. */
  readonly absentSeconds: number;
  /** How long after that a found key still counts when every layer fails. */
  readonly staleSeconds: number;
  /** How old a published copy may be. */
  readonly copySeconds: number;
  /** Where requests go when every layer fails; `undefined`: they are refused. */
  readonly fallback: string | undefined;
  readonly mode: "write-only" | "verify" | "serve";
  /** Whether an origin's 421 changes the key. */
  readonly learnsMoves: boolean;
  /** One frozen target for each region. */
  readonly targets: ReadonlyMap<string, Target>;
}
