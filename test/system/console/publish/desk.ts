import type { Page, Route } from "playwright-core";
import { expect } from "vitest";
import type { TableRevision } from "../../../../src/formats/table-api.ts";
import { type ConsoleStack, type OpenPage, signIn, startConsole, TOKENS, violations } from "../console.ts";

/** Operators at a gateway whose environment has a name, in browsers and by programs. */

export interface Table {
  routes: { when: object; region: string }[];
}

const asOperator = { authorization: `Bearer ${TOKENS.operator}` };

export const BRAZIL = "0192f0c1-7a30-8007-8040-8f3b2a1c9d78";
export const GERMANY = "0192f0c1-7a30-8009-8040-8f3b2a1c9d78";
export const POLAND = "0192f0c1-7a30-800a-8040-8f3b2a1c9d78";

export const startDesk = async () =>
  deskAt(await startConsole(undefined, { ENVIRONMENT: "production", REPORT_SECONDS: "1" }));

export type Desk = ReturnType<typeof deskAt>;

function deskAt(stack: ConsoleStack) {
  const tableNow = async (): Promise<Table> => (await fetch(`${stack.url}/-/table`, { headers: asOperator })).json();

  async function head(): Promise<TableRevision> {
    const answer = await fetch(`${stack.url}/-/table/revisions?limit=1`, { headers: asOperator });
    const { revisions } = (await answer.json()) as { revisions: TableRevision[] };
    return revisions[0] as TableRevision;
  }

  /** Another operator publishes, by a program. */
  async function publishAside(change: (table: Table) => void, note: string): Promise<number> {
    const table = await tableNow();
    change(table);
    const headers = {
      authorization: `Bearer ${TOKENS.other}`,
      "if-match": `"${(await head()).revision}"`,
      "waybill-note": note,
    };
    const answer = await fetch(`${stack.url}/-/table`, {
      method: "PUT",
      headers,
      body: JSON.stringify(table, null, 2),
    });
    expect(answer.ok).toBe(true);
    return ((await answer.json()) as { revision: number }).revision;
  }

  const regionOf = async (id: string): Promise<string | null> => {
    const answer = await fetch(`${stack.url}/orders/${id}`);
    await answer.arrayBuffer();
    return answer.headers.get("x-demo-region");
  };

  const placeOf = (country: string) =>
    stack.declared.routes.findIndex(({ when }) => String(when.country).includes(country));

  /** A page of an operator with a draft in the editor. */
  async function draftAs(who: "operator" | "other", change: (table: Table) => void): Promise<OpenPage> {
    const own = await stack.open("");
    await signIn(own, who);
    await own.page.goto(`${stack.consoleUrl}/-/console#/editor`);
    await own.page.locator(".cm-content").click();
    const table = await tableNow();
    change(table);
    await own.page.keyboard.press("Control+a");
    await own.page.keyboard.insertText(JSON.stringify(table, null, 2));
    return own;
  }

  const withRegion = (country: string, region: string) => (table: Table) => {
    const route = table.routes[placeOf(country)];
    if (route !== undefined) route.region = region;
  };

  /** The next PUT reaches the gateway or not, and its answer does not come back. */
  async function loseAnswer(page: Page, isDelivered: boolean): Promise<void> {
    let isLost = false;
    await page.route("**/-/table", async (route: Route) => {
      if (isLost || route.request().method() !== "PUT") return route.fallback();
      isLost = true;
      const { "if-match": match = "", "waybill-note": note = "" } = route.request().headers();
      // As the session of this operator would send it: Node does not know the console's host.
      const headers = { ...asOperator, "if-match": match, "waybill-note": note };
      const body = route.request().postData();
      if (isDelivered) expect((await fetch(`${stack.url}/-/table`, { method: "PUT", headers, body })).ok).toBe(true);
      return route.abort("connectionreset");
    });
  }

  return { stack, asOperator, tableNow, head, publishAside, regionOf, placeOf, draftAs, withRegion, loseAnswer };
}

export const dialogOf = (page: Page) => page.getByRole("dialog");

export async function review(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Review and publish" }).click();
  await dialogOf(page).getByRole("heading", { name: "What changes" }).waitFor();
}

/** Answers every question of the window for all IDs at once. */
export async function answerAll(page: Page): Promise<void> {
  const dialog = dialogOf(page);
  await dialog
    .getByText(/requests \/|is not known/)
    .first()
    .waitFor();
  for (const box of await dialog.getByRole("checkbox").all()) await box.check();
  const all = dialog.getByRole("radio", { name: /^For all IDs now/ });
  if ((await all.count()) > 0) await all.check();
  const name = dialog.getByLabel(/type production/);
  if ((await name.count()) > 0) await name.fill("production");
}

export const publishButton = (page: Page) => dialogOf(page).getByRole("button", { name: /^Publish revision \d+$/ });

export async function expectSound(own: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await own.page.emulateMedia({ colorScheme });
    expect((await violations(own)).join("\n")).toBe("");
  }
  expect(own.faults).toEqual([]);
}
