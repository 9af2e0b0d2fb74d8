import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type RunningOrigin, startOrigins } from "../../../src/demo/origin.ts";
import { tableWithOrigins } from "../../../src/demo/table.ts";
import { buildConsole } from "../../../src/host/console/build.ts";
import { startGateway } from "../../../src/host/workerd/gateway.ts";
import { type DemoTable, readDemoTable } from "../demo/demo.ts";
import { launchBrowser } from "./browser.ts";

/** A gateway with its console, and a real browser with its security on. */
export interface ConsoleStack {
  /** The gateway's; the console's is `consoleUrl`. */
  readonly url: string;
  readonly consoleUrl: string;
  readonly browser: Browser;
  readonly origins: readonly RunningOrigin[];
  readonly declared: DemoTable;
  /** A page at a place of the console. What breaks its policy or leaves its host is in `faults`. */
  open(place: string, options?: BrowserContextOptions): Promise<OpenPage>;
  stop(): Promise<void>;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: string[];
}

/** Tokens by scope; not secrets: they live as long as a test. */
export const TOKENS = {
  support: "support-".padEnd(40, "s"),
  viewer: "viewer-".padEnd(40, "v"),
  operator: "operator-".padEnd(40, "o"),
  other: "other-".padEnd(40, "p"),
};

const ADMIN_TOKENS = JSON.stringify(
  Object.entries(TOKENS).map(([name, token]) => ({
    name,
    scope: name === "other" ? "operator" : name,
    sha256: createHash("sha256").update(token).digest("hex"),
  })),
);

/** `vars`: of the gateway. */
export async function startConsole(
  change: (table: DemoTable) => DemoTable = (table) => table,
  vars: Readonly<Record<string, string>> = {},
): Promise<ConsoleStack> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-console-"));
  const origins = await startOrigins(0);
  const declared = change(tableWithOrigins(readDemoTable(), origins));
  const consoleFolder = join(folder, "console");
  await buildConsole(consoleFolder);
  const gateway = await startGateway({
    port: 0,
    tableText: JSON.stringify(declared, null, 2),
    stateFolder: join(folder, "state"),
    consoleFolder,
    vars: {
      REQUEST_LOG: "off",
      CONSOLE_HOST: "console.localhost",
      CONSOLE_PREVIEW: "all",
      ADMIN_TOKENS,
      ...vars,
    },
  });
  const browser = await launchBrowser();
  const consoleUrl = gateway.url.replace("127.0.0.1", "console.localhost");
  const open = async (place: string, options: BrowserContextOptions = {}): Promise<OpenPage> => {
    const context = await browser.newContext({
      locale: "en-US",
      timezoneId: "UTC",
      viewport: { width: 1200, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML|Trusted ?Script/i.test(message.text())) faults.push(message.text());
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== consoleUrl && protocol !== "data:" && protocol !== "blob:") faults.push(`asked ${request.url()}`);
    });
    await page.goto(`${consoleUrl}/-/console${place}`);
    return { page, context, faults };
  };
  const stop = async () => {
    await browser.close();
    await gateway.stop();
    await Promise.all(origins.map((origin) => origin.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: gateway.url, consoleUrl, browser, origins, declared, open, stop };
}

export async function signIn({ page }: OpenPage, who: keyof typeof TOKENS): Promise<void> {
  await page.getByLabel("Token").fill(TOKENS[who]);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: who, exact: true }).waitFor();
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Violations that axe finds. It is loaded through the debugger: the page's policy lets no other script in. */
export async function violations({ page, context }: OpenPage): Promise<readonly string[]> {
  const session = await context.newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: readFileSync(AXE, "utf8") });
  const expression =
    "axe.run({ rules: { 'target-size': { enabled: true } } }).then((all) => all.violations.flatMap((each) => each.nodes.map((node) => each.id + ': ' + node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))))";
  const { result } = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  await session.detach();
  return result.value as readonly string[];
}
