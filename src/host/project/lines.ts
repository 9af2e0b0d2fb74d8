import { parseJson } from "../../routing/index.ts";
import type { Environment } from "../settings.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

export function columns(rows: readonly (readonly string[])[], indent = "  "): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => (indent + row.map((text, at) => text.padEnd(widths[at] ?? 0)).join("  ")).trimEnd());
}

type LoggedRequest = Readonly<Record<"method" | "path", string> & Record<"status" | "ms", number>> &
  Partial<Readonly<Record<"event" | "layout" | "region", string>>>;

/** Formats the log line of a request. Returns any other line unchanged. */
export function formatLogLine(line: string, paint: Paint): string {
  const request = parseJson(line) as LoggedRequest | null | undefined;
  if (request?.event !== "request") return line;
  const { method, path, layout = "-", region = "-", status, ms } = request;
  const statusStyle = status >= 500 ? "red" : status >= 400 ? "yellow" : "green";
  return [
    method.padEnd(7),
    // No control characters: they could drive the terminal.
    path.replace(/\p{Cc}/gu, "?").padEnd(52),
    layout.padEnd(12),
    paint("cyan", region.padEnd(6)),
    paint(statusStyle, String(status)),
    paint("dim", `${ms} ms`.padStart(8)),
  ].join(" ");
}

/** Browsers find names below `localhost` on this machine (RFC 6761 §6.3). The host proxies nothing, whatever its port. */
export const CONSOLE_SETTINGS = {
  CONSOLE_HOST: "console.localhost",
  CONSOLE_PREVIEW: "all",
  ENVIRONMENT: "development",
};

/** `url`: of the gateway, by its address. */
export function consoleUrlOf(url: string, environment: Environment): string {
  const host = environment["CONSOLE_HOST"] || CONSOLE_SETTINGS.CONSOLE_HOST;
  return host.includes(":") ? `http://${host}` : url.replace("127.0.0.1", host);
}
