import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { iuid } from "../../../../src/ids/index.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole } from "../console.ts";

/** A gateway with origins that fail in a chosen way, requests to it, and a page that watches. */

export type Mode = "good" | "errors" | "slow" | "gone";

interface BadOrigin {
  readonly url: string;
  /** `gone`: connections are closed without an answer. */
  mode: Mode;
  stop(): Promise<void>;
}

const SLOW_MS = 1_500;

async function startOrigin(): Promise<BadOrigin> {
  const answer = (response: ServerResponse): void => {
    response.writeHead(own.mode === "errors" ? 500 : 200, { "content-type": "application/json" }).end("{}");
  };
  const server: Server = createServer((request, response) => {
    request.resume();
    if (own.mode === "gone") response.destroy();
    else if (own.mode === "slow") setTimeout(() => answer(response), SLOW_MS);
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const own: BadOrigin = { url: `http://127.0.0.1:${port}`, mode: "good", stop };
  return own;
}

/** Numbers of countries in the demo's table. */
const COUNTRIES = { eu: 9, us: 7, ap: 11 } as const;
export type Region = keyof typeof COUNTRIES;

export interface Outage {
  readonly stack: ConsoleStack;
  readonly origins: Readonly<Record<Region, readonly BadOrigin[]>>;
  /** One request for a new ID of the region. Returns the status. */
  send(region: Region): Promise<number>;
  /** Requests until it is ended; statuses so far by how often. */
  load(region: Region, everyMs: number): { readonly statuses: ReadonlyMap<number, number>; end(): Promise<void> };
  stop(): Promise<void>;
}

/** `us` has three origins, the others one each; breakers are tried again after `openMs`. */
export async function startOutage(openMs: number): Promise<Outage> {
  const origins = {
    eu: [await startOrigin()],
    us: [await startOrigin(), await startOrigin(), await startOrigin()],
    ap: [await startOrigin()],
  };
  const stack = await startConsole(
    (table) => ({
      ...table,
      regions: Object.fromEntries(
        Object.entries(origins).map(([name, all]) => [
          name,
          {
            origins: all.map(({ url }) => ({ url })),
            breaker: { openMs },
          },
        ]),
      ),
    }),
    { REPORT_SECONDS: "1" },
  );
  let serial = 0n;
  let isStopped = false;
  const send = async (region: Region): Promise<number> => {
    serial++;
    const words = iuid.encode({ mintedAt: Date.now(), country: COUNTRIES[region], service: 1, random: serial });
    if (!words.ok) throw new Error("no ID");
    const answer = await fetch(`${stack.url}/orders/${iuid.format(words.value)}`);
    await answer.arrayBuffer();
    return answer.status;
  };
  const load: Outage["load"] = (region, everyMs) => {
    const statuses = new Map<number, number>();
    let isOver = false;
    const running = (async () => {
      while (!isOver && !isStopped) {
        const status = await send(region).catch(() => 0);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    })();
    return {
      statuses,
      end: async () => {
        isOver = true;
        await running;
      },
    };
  };
  const stop = async () => {
    isStopped = true;
    await stack.stop();
    await Promise.all(Object.values(origins).flatMap((all) => all.map((origin) => origin.stop())));
  };
  return { stack, origins, send, load, stop };
}

export async function watch({ stack }: Outage): Promise<OpenPage> {
  const own = await stack.open("");
  await signIn(own, "operator");
  await own.page.goto(`${stack.consoleUrl}/-/console#/overview`);
  await own.page.getByRole("region", { name: "Figures of the regions" }).waitFor();
  return own;
}

export interface Seen {
  /** Titles of alarms, which say that requests fail, and of notes. */
  readonly alarms: readonly string[];
  readonly warnings: readonly string[];
  /** In the order of the page: `us: Down for 4 s`. */
  readonly states: readonly string[];
  readonly tab: string;
  readonly errors: string;
}

/** The page as it is at this moment. */
export const see = (page: Page): Promise<Seen> =>
  page.evaluate(() => {
    const texts = (selector: string) =>
      [...document.querySelectorAll(selector)].map((each) => (each.textContent ?? "").replace(/\s+/g, " ").trim());
    return {
      alarms: texts(".alarm h2"),
      warnings: texts(".alarms .note h3"),
      states: [...document.querySelectorAll(".tbl.regions tbody tr:not(.sub)")].map(
        (row) =>
          `${row.querySelector(".c-region")?.textContent}: ${row.querySelector(".c-state")?.textContent?.replace(/\s+/g, " ").trim()}`,
      ),
      tab: document.title,
      errors: texts(".tile .big")[1] ?? "",
    };
  });

const LOOK_MS = 200;

/** The page, look by look, until `isEnough` or the time is over. */
export async function looks(
  page: Page,
  forMs: number,
  isEnough: (seen: Seen) => boolean = () => false,
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (const startMs = Date.now(); Date.now() - startMs < forMs; ) {
    const now = await see(page);
    seen.push(now);
    if (isEnough(now)) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return seen;
}
