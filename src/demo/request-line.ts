/** What the gateway logs of a request, as far as the demo shows it. */
interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly layout?: string;
  readonly region?: string;
  readonly status: number;
  readonly ms: number;
}

/** Paints a text; the plain one leaves it alone. */
export type Paint = (style: "green" | "yellow" | "red" | "dim" | "bold" | "cyan", text: string) => string;

/** Longest method that the column is made for, `OPTIONS`; longest entity path with an ID, roughly. */
const METHOD_COLUMNS = 7;
const PATH_COLUMNS = 52;
const LAYOUT_COLUMNS = 12;
const REGION_COLUMNS = 6;

/** One aligned line for a request; any other line of the log as it is. */
export function showLogLine(line: string, paint: Paint): string {
  const request = readLoggedRequest(line);
  if (request === undefined) return line;
  const { method, path, layout = "-", region = "-", status, ms } = request;
  const columns = [
    method.padEnd(METHOD_COLUMNS),
    path.replace(/\p{Cc}/gu, "?").padEnd(PATH_COLUMNS),
    layout.padEnd(LAYOUT_COLUMNS),
    paint("cyan", region.padEnd(REGION_COLUMNS)),
    paint(statusStyle(status), String(status)),
    paint("dim", `${ms} ms`.padStart(8)),
  ];
  return columns.join(" ");
}

const statusStyle = (status: number) => (status >= 500 ? "red" : status >= 400 ? "yellow" : "green");

function readLoggedRequest(line: string): LoggedRequest | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const logged: LoggedRequest & { readonly event?: string } = JSON.parse(line);
    return logged.event === "request" ? logged : undefined;
  } catch {
    return undefined;
  }
}
