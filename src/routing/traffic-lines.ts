import type { LoggedRequest } from "./replay.ts";

/** What a line of a log turned out to be. `other`: an event that is no request. */
export type LogLine =
  | { readonly kind: "request"; readonly request: LoggedRequest }
  | { readonly kind: "other" }
  | { readonly kind: "unreadable" };

/** A method and a path, or a path alone, for a GET. */
const PLAIN_LINE = /^(?:([A-Z][A-Z-]{0,31}) )?(\/\S*)$/;

/** A line that `npm start` prints: method, path, layout, region, status and milliseconds in columns. */
const SCREEN_LINE = /^([A-Z][A-Z-]{0,31}) +(\/\S*) +\S+ +\S+ +\d{3} +[\d.]+ ms$/;

/** Reads a line of the gateway's own log (an object with `method` and `path`), a line as `npm start` shows it, or a bare path. */
export const parseLogLine = (line: string): LogLine => {
  if (!line.startsWith("{")) {
    const [, method = "GET", path] = PLAIN_LINE.exec(line) ?? SCREEN_LINE.exec(line) ?? [];
    return path === undefined ? { kind: "unreadable" } : { kind: "request", request: { method, path } };
  }
  const { event, method = "GET", path } = readObject(line);
  if (typeof path === "string" && typeof method === "string" && path.startsWith("/")) {
    return { kind: "request", request: { method, path } };
  }
  return { kind: typeof event === "string" && event !== "request" ? "other" : "unreadable" };
};

const readObject = (line: string): { readonly event?: unknown; readonly method?: unknown; readonly path?: unknown } => {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
};
