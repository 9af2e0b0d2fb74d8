import { expect, it } from "vitest";
import { startedTables } from "../../../src/edge/table/started-tables.ts";
import { err, ok } from "../../../src/ids/result.ts";
import type { ServedTable } from "../../../src/ports/admin.ts";

const served = { label: "rev=2" } as ServedTable;
const tables = { peek: () => served, load: async () => ok(served) };
const refused = { reason: "control-plane-unavailable", why: "KV did not answer" } as const;

it("serve no table before the control plane has put that of the start into force, and ask again after a failure", async () => {
  const answers = [err(refused), err(refused), ok(undefined)];
  const failures: unknown[] = [];
  let asked = 0;
  const started = startedTables(tables, {
    begin: async () => answers[asked++] ?? ok(undefined),
    reportFailure: (error) => failures.push(error),
  });
  for (const round of [1, 2]) {
    expect(started.peek(() => undefined)).toBeUndefined();
    expect(await started.load()).toMatchObject({ ok: false, error: { reason: "table-unavailable" } });
    expect(failures).toEqual(Array(round).fill(refused));
  }
  expect(await started.load()).toEqual(ok(served));
  expect(started.peek(() => undefined)).toBe(served);
  expect(await started.load()).toEqual(ok(served));
  expect(asked).toBe(3);
});

it("ask for each of the requests that come at once: none waits for what another began", async () => {
  let asked = 0;
  const ends: (() => void)[] = [];
  const begin = () => {
    asked += 1;
    return new Promise<ReturnType<typeof ok<undefined>>>((end) => ends.push(() => end(ok(undefined))));
  };
  const started = startedTables(tables, { begin, reportFailure: () => undefined });
  const loads = [started.load(), started.load(), started.load()];
  expect(asked).toBe(3);
  ends[1]?.();
  expect(await loads[1]).toEqual(ok(served));
  expect(started.peek(() => undefined)).toBe(served);
  for (const end of ends) end();
  expect(await Promise.all(loads)).toHaveLength(3);
});
