import fc from "fast-check";
import { expect, it } from "vitest";
import type { Claim, Directory, DirectoryTruth } from "../../../src/features/directory/port.ts";
import { claimKeys } from "../../../src/features/directory/serve/claims.ts";
import { err, ok, type Result } from "../../../src/ids/result.ts";
import { fakeTruth } from "../../edge/directory/fake-truth.ts";

const FAILED = err({
  reason: "directory-unavailable",
  directory: "slug",
  retryAfterSeconds: 2,
  why: "failed",
} as const);

/** `lost`: the object did what it was asked to, and its answer did not arrive. */
type Fault = "none" | "down" | "lost";

/** Claims that take turns as `s` says, and fail by a list. */
const world = (s: fc.Scheduler, faults: readonly Fault[]) => {
  const truth = fakeTruth({ nowMs: 1_000_000 });
  const forgotten: string[] = [];
  let calls = 0;
  const faulty =
    <Value>(call: (claim: Claim) => Promise<Result<Value, never>>, mayFail: boolean) =>
    async (claim: Claim): Promise<Result<Value, never> | typeof FAILED> => {
      const fault = mayFail ? (faults[calls++] ?? "none") : "none";
      await s.schedule(Promise.resolve());
      const value = fault === "down" ? FAILED : await call(claim);
      return fault === "lost" ? FAILED : value;
    };
  const directoryTruth = {
    ...truth,
    reserve: faulty(truth.reserve as never, true),
    confirm: faulty(truth.confirm as never, true),
    // A claim that cannot be released ends with its lease: see below.
    release: faulty(truth.release as never, false),
  } as unknown as DirectoryTruth;
  const forget: Directory["forget"] = async (directory, key) => void forgotten.push(`${directory} ${key}`);
  return { truth, ports: { directoryTruth, directory: { forget } as Directory }, forgotten };
};

const key = fc.record(
  { directory: fc.constantFrom("slug", "email"), key: fc.constantFrom("a", "b", "c") },
  { noNullPrototype: true },
);
const keys = fc.uniqueArray(key, {
  minLength: 1,
  maxLength: 4,
  selector: ({ directory, key: text }) => `${directory}/${text}`,
});

it("several keys at once are all of one owner, or none is, however claims meet and fail", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(keys, { minLength: 1, maxLength: 4 }),
      fc.array(fc.constantFrom<Fault>("none", "none", "none", "down", "lost"), { maxLength: 12 }),
      async (s, claims, faults) => {
        const { truth, ports, forgotten } = world(s, faults);
        const ended = claims.map((wanted, at) =>
          claimKeys(
            ports,
            wanted,
            { owner: `o${at}`, operation: `p${at}` },
            { action: "reserve", region: "eu", leaseMs: 60_000 },
          ),
        );
        await s.waitFor(Promise.all(ended));
        const results = await Promise.all(ended);
        for (const [at, wanted] of claims.entries()) {
          const own = wanted.filter(
            ({ directory, key: text }) => truth.held.get(`${directory}/${text}`)?.owner === `o${at}`,
          );
          expect(own).toHaveLength(results[at]?.ok ? wanted.length : 0);
          if (results[at]?.ok) for (const one of wanted) expect(forgotten).toContain(`${one.directory} ${one.key}`);
        }
        // In one order for all: where nothing fails, one of those who want a key gets all of theirs.
        if (faults.every((fault) => fault === "none")) expect(results.some((result) => result.ok)).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

it("a key that its owner has confirmed stays when others of a later claim are taken", async () => {
  const { ports, truth } = world({ schedule: async () => undefined } as unknown as fc.Scheduler, []);
  const [a, b] = [
    { directory: "slug", key: "a" },
    { directory: "slug", key: "b" },
  ];
  await truth.register({ ...a, owner: "ann", operation: "1", region: "eu" });
  await truth.register({ ...b, owner: "bob", operation: "2", region: "eu" });
  const by = { owner: "ann", operation: "1" };
  const taken = await claimKeys(ports, [b, a], by, { action: "reserve", region: "eu", leaseMs: 1_000 });
  expect(taken).toEqual(err({ reason: "key-taken", directory: "slug", key: "b" }));
  expect(await truth.get(a)).toMatchObject(ok({ state: "confirmed", owner: "ann" }));
});
