import { afterAll, beforeAll, expect, it } from "vitest";
import { violations } from "../console.ts";
import { looks, type Outage, see, startOutage, watch } from "./outage.ts";

/** Somebody who looks at the overview sees an incident within 10 s, without a click, and nothing that looks sound while it lasts. */

const NOTICED_MS = 10_000;

let outage: Outage;
beforeAll(async () => {
  outage = await startOutage(60_000);
});
afterAll(() => outage?.stop());

it("tells of an origin that is gone, with the requests that it fails", async () => {
  const own = await watch(outage);
  const { page } = own;
  const sound = outage.load("eu", 40);
  const hit = outage.load("ap", 40);
  await expect.poll(() => see(page), { timeout: 20_000 }).toMatchObject({ alarms: [], errors: "0 %" });
  await expect
    .poll(async () => (await see(page)).states.join(), { timeout: 20_000 })
    .toMatch(/eu: Healthy.*ap: Healthy/);
  for (const origin of outage.origins.ap) await origin.stop();
  const before = await looks(page, NOTICED_MS, ({ alarms }) => alarms.length > 0);
  expect(before.at(-1)?.alarms[0]).toMatch(/^ap (?:is down|fails .* of its requests) since \d\d:\d\d/);
  const during = await looks(page, 2_000);
  for (const { alarms, states, errors } of during) {
    expect(alarms[0]).toMatch(/^ap /);
    expect(states[0]).toMatch(/^ap: (?:Down|Degraded|Testing)/);
    expect(errors).not.toBe("0 %");
  }
  await expect
    .poll(() => see(page), { timeout: 15_000 })
    .toMatchObject({
      alarms: [expect.stringMatching(/^ap is down since \d\d:\d\d: .*50[23]$/)],
      states: [expect.stringMatching(/^ap: Down for \d+ s$/), "eu: Healthy", "us: Not asked yet"],
    });
  const alarm = page.locator(".alarm");
  await alarm.getByText("Its origin does not answer. It has no failover region.").waitFor();
  expect(await alarm.getByRole("link", { name: "Origins of ap" }).getAttribute("href")).toBe("#/regions?region=ap");
  expect(await alarm.getByRole("link", { name: "Draft: new IDs to eu" }).getAttribute("href")).toBe(
    "#/routes?from=ap&to=eu",
  );
  await page.getByRole("list", { name: "Problems" }).getByText("No origin").first().waitFor();
  await page
    .getByRole("list", { name: "Events" })
    .getByText(/^ap is down/)
    .waitFor();
  await Promise.all([sound.end(), hit.end()]);
  expect(sound.statuses.size).toBe(1);
  expect([...hit.statuses.keys()].toSorted()[0]).toBe(200);
  expect((await violations(own)).join("\n")).toBe("");
  await alarm.getByRole("link", { name: "Draft: new IDs to eu" }).click();
  const form = page.getByRole("dialog");
  expect(await form.getByRole("radio", { name: "New ones alone, minted from now on" }).isChecked()).toBe(true);
  expect(await form.getByRole("combobox").inputValue()).toBe("eu");
  expect(own.faults).toEqual([]);
});
