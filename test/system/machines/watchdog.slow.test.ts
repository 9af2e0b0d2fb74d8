import { afterAll, expect, it } from "vitest";
import { whyNoNamespaces } from "./hosts/namespaces.ts";
import { type Rig, startRig } from "./rig/rig.ts";

/** Three state nodes on hosts that can be cut apart. Their times are a tenth, and the watchdog's too. */

let rig: Rig | undefined;
afterAll(() => rig?.stop());

const whyNot = whyNoNamespaces();

it("a node that is cut off from its peers, but not from the bucket, stops until it reaches one", {
  timeout: 180_000,
}, async ({ skip }) => {
  if (whyNot !== undefined) return skip(whyNot);
  const trial = await startRig({ states: 3, edges: 0, timeDivisor: 10, needsCuts: true });
  rig = trial;
  const [first, second, third] = trial.states;
  if (first === undefined || second === undefined || third === undefined) throw new Error("no state nodes");
  const runs = () => trial.states.map(({ host }) => host.named("workerd").length);
  const said = (words: string) => expect.poll(() => first.printed(), { timeout: 30_000 }).toContain(words);
  expect(runs()).toEqual([1, 1, 1]);

  // One peer is enough.
  trial.cuts?.cut(first.host.name, [second.host.name]);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(runs()).toEqual([1, 1, 1]);

  trial.cuts?.cut(first.host.name, [third.host.name]);
  await said("answers for 0.5 s: this node is cut off, and stays down until it reaches one.");
  await expect.poll(runs, { timeout: 30_000 }).toEqual([0, 1, 1]);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(runs()).toEqual([0, 1, 1]);

  trial.cuts?.mend();
  await said("A peer answers again: this node starts.");
  await expect.poll(runs, { timeout: 30_000 }).toEqual([1, 1, 1]);
  const [page] = trial.statePages;
  const ready = async () => page && (await trial.load.call("ask", page, "/-/health")).status;
  await expect.poll(ready, { timeout: 60_000 }).toBe(200);

  // The others of a node are no cut: they refuse, so the last one runs on.
  await Promise.all([second.stop(), third.stop()]);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(runs()).toEqual([1, 0, 0]);
  expect(await first.stop()).toBe(0);
});
