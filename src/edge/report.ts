import type { RequestLine } from "../ports.ts";
import type { LoadFailure } from "./table-store.ts";

/** What operators see: one JSON object a line, each with an `event`. */

/** One line a request, when its answer begins. */
export function writeRequestLine(line: RequestLine): void {
  console.log(JSON.stringify({ event: "request", time: new Date().toISOString(), ...line }));
}

export function reportLoadFailure(failure: LoadFailure): void {
  console.warn(JSON.stringify({ event: "table-load-failed", time: new Date().toISOString(), ...failure }));
}

export function reportDefect(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  console.error(JSON.stringify({ event: "defect", time: new Date().toISOString(), error: text }));
}

/** An answer that was broken off because its JSON could not be read to the end: internal IDs might have followed. */
export function reportBrokenBody(entity: string, reason: string): void {
  console.warn(JSON.stringify({ event: "public-body-broken", time: new Date().toISOString(), entity, reason }));
}
