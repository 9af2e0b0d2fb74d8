import { readFileSync } from "node:fs";

/** A case of a file in test/vectors, whose README describes the keys. */
export interface VectorCase {
  readonly id: string;
  readonly op: string;
  readonly text: string | null;
  readonly input?: Readonly<Record<string, string | number>>;
  readonly valid: boolean;
  readonly fields: Readonly<Record<string, string | number | null>>;
  readonly canonical?: string;
  readonly bytesHex?: string;
  readonly error?: string;
}

export const readCases = (format: string): readonly VectorCase[] => {
  const file = new URL(`../../vectors/${format}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { cases: readonly VectorCase[] }).cases;
};

/** The text of a case that has one. */
export const textOf = ({ id, text }: VectorCase): string => {
  if (text === null) throw new Error(`${id} has no text`);
  return text;
};

export const unhandled = ({ id, op }: VectorCase): never => {
  throw new Error(`${id}: no test handles the operation ${op}`);
};
