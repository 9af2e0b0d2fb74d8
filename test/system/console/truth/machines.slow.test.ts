import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Target } from "../../machines/rig/load/ask.ts";
import { type Rig, startRig } from "../../machines/rig/rig.ts";
import { PROBE_ID, type Region } from "../../machines/rig/table.ts";
import { launchBrowser } from "../browser.ts";

/** The machines of a cluster on the console's overview, in a real browser at one of its edges, against their answers. */

const DEADLINE_MS = 240_000;
const HOST = "console.localhost";
let rig: Rig;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const env = { CONSOLE_HOST: HOST };
  rig = await startRig({ states: 3, edges: 2, timeDivisor: 5, needsCuts: false, env });
  const [edge] = rig.targets;
  // Browsers take names of localhost for 127.0.0.1.
  browser = await launchBrowser([`--host-resolver-rules=MAP ${HOST} ${edge?.host}`]);
  page = await (await browser.newContext({ locale: "en-US", timezoneId: "UTC" })).newPage();
  await page.goto(`http://${HOST}:${edge?.port}/-/console`);
  await page.getByLabel("Token").fill(rig.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Overview" }).first().click();
}, DEADLINE_MS);
afterAll(async () => {
  await browser?.close();
  await rig?.stop();
});

it("has each edge with its revision, and the state nodes that it reaches", { timeout: DEADLINE_MS }, async () => {
  await page.getByRole("button", { name: "2 of 2 machines" }).click({ timeout: 60_000 });
  const dialog = page.getByRole("dialog", { name: "Machines" });
  for (const name of ["edge1", "edge2"]) {
    const cells = dialog.getByRole("region", { name: "Edges" }).getByRole("row", { name }).getByRole("cell");
    await expect.poll(async () => (await cells.allTextContents())[0]?.trim(), { timeout: 30_000 }).toBe("1");
  }
  const nodes = dialog.getByRole("region", { name: "State nodes" }).getByRole("row", { name: /yes/ });
  await expect.poll(() => nodes.count(), { timeout: 60_000 }).toBe(3);
});

it("says which state node an edge does not reach", { timeout: DEADLINE_MS }, async () => {
  await rig.states[2]?.stop();
  const without = page.getByRole("region", { name: "State nodes" }).getByText(/^not edge/);
  await expect.poll(() => without.count(), { timeout: 120_000 }).toBe(1);
  await rig.states[2]?.start();
  await expect.poll(() => without.count(), { timeout: 120_000 }).toBe(0);
});

/** The region that an edge gives the probe now. */
async function regionAt({ host, port }: Target): Promise<string | null> {
  const answer = await fetch(`http://${host}:${port}/probes/${PROBE_ID}`);
  await answer.body?.cancel();
  return answer.headers.get("waybill-region");
}

const regionsAtEdges = () => Promise.all(rig.targets.map(regionAt));

async function publish(probeTo: Region, revision: number): Promise<void> {
  const [edge] = rig.targets;
  const headers = {
    authorization: `Bearer ${rig.token}`,
    "content-type": "application/json",
    "if-match": `"${revision}"`,
    "waybill-note": "probe",
  };
  const body = rig.tableText(probeTo);
  const published = await fetch(`http://${edge?.host}:${edge?.port}/-/table`, { method: "PUT", headers, body });
  expect(published.status, await published.text()).toBe(201);
}

const tile = () => page.locator(".tile", { hasText: "Revision in force" }).locator(".big");

it("follows a publication to all edges", { timeout: DEADLINE_MS }, async () => {
  await page.keyboard.press("Escape");
  await publish("us", 1);
  await expect.poll(() => tile().textContent(), { timeout: 60_000 }).toBe("2");
  await page.getByRole("button", { name: "2 of 2 machines" }).waitFor({ timeout: 60_000 });
  expect(await regionsAtEdges()).toEqual(["us", "us"]);
});

it("counts an edge whose mirror stands still as behind, as its answers show", { timeout: DEADLINE_MS }, async () => {
  const host = rig.edges[1]?.host;
  host?.signal("SIGSTOP");
  // Its gateway goes on: it serves what the mirror had.
  for (const pid of host?.named("workerd") ?? []) process.kill(pid, "SIGCONT");
  await publish("ap", 2);
  await expect.poll(() => tile().textContent(), { timeout: 60_000 }).toBe("3");
  await expect.poll(regionsAtEdges, { timeout: 60_000 }).toEqual(["ap", "us"]);
  await page.getByRole("button", { name: "1 of 2 machines" }).waitFor({ timeout: 60_000 });
  // Nor is it called in force later, while the answers differ.
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  await expect.poll(() => page.getByRole("button", { name: "1 of 2 machines" }).count()).toBe(1);
  expect(await regionsAtEdges()).toEqual(["ap", "us"]);
  host?.signal("SIGCONT");
  await page.getByRole("button", { name: "2 of 2 machines" }).waitFor({ timeout: 60_000 });
  expect(await regionsAtEdges()).toEqual(["ap", "ap"]);
});
