import type { Context, MiddlewareHandler } from "hono";
import type { Gateway, RequestLine } from "../src/ports.ts";

const NOTE = "decision";

type Note = Pick<RequestLine, "layout" | "region">;

/** Remembers what was decided about a request, for its log line. Costs nothing where no log is wanted. */
export function noteDecision(
  { gateway, context }: { readonly gateway: Gateway; readonly context: Context },
  layout: string,
  region: string | undefined,
): void {
  if (gateway.logRequest !== undefined) context.set(NOTE, { layout, region } satisfies Note);
}

/** Writes one line for each request, when its answer begins. */
export function requestLog(gateway: Gateway, write: (line: RequestLine) => void): MiddlewareHandler {
  return async (c, next) => {
    const arrivedAtMs = gateway.clock.nowMs();
    await next();
    const note: Note | undefined = c.get(NOTE);
    write({
      method: c.req.method,
      path: rawPath(c.req.raw.url),
      layout: note?.layout,
      region: note?.region,
      status: c.res.status,
      ms: gateway.clock.nowMs() - arrivedAtMs,
    });
  };
}

/** The path as it was sent; the query may hold what no log should. */
function rawPath(url: string): string {
  const [target = ""] = url.split("?", 1);
  return target.slice(target.indexOf("/", "https://".length));
}
