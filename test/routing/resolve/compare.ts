import { expect } from "vitest";
import type { resolveAny } from "../../../src/routing/index.ts";
import type { Target } from "../../../src/routing/table.ts";
import type { OracleReading, OracleTarget } from "./oracle.ts";

const asOracle = ({ region, rule }: Target): OracleTarget => {
  if (rule.kind === "canary") return { region: region.name, rule: `canary ${rule.index}` };
  return { region: region.name, rule: rule.kind === "route" ? rule.index : rule.kind };
};

/** Holds a resolution to what the slow reader says of the same text. */
export const compare = (resolved: ReturnType<typeof resolveAny>, expected: readonly OracleReading[]): void => {
  const [first, ...others] = expected;
  if (first === undefined) {
    expect(resolved.ok ? "resolved" : resolved.error.reason).toMatch(/^(wrong-entity|unknown-id|malformed-id)$/);
    return;
  }
  const agree = others.every(
    ({ entity, target }) =>
      entity === first.entity &&
      target?.region === first.target?.region &&
      (target === undefined) === (first.target === undefined),
  );
  if (!agree) {
    expect(resolved).toMatchObject({ ok: false, error: { reason: "ambiguous-id" } });
    if (!resolved.ok && resolved.error.reason === "ambiguous-id") {
      expect(resolved.error.candidates.map(({ entity, layout, region }) => ({ entity, layout, region }))).toEqual(
        expect.arrayContaining(
          expected.map(({ entity, layout, target }) => ({ entity, layout, region: target?.region })),
        ),
      );
    }
    return;
  }
  if (first.target === undefined) {
    expect(resolved).toMatchObject({ ok: false, error: { reason: "unassigned-key", entity: first.entity } });
    return;
  }
  if (first.target.region === undefined) {
    expect(resolved).toMatchObject({ ok: false, error: { reason: "entity-gone", entity: first.entity } });
    return;
  }
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  expect(resolved.value.entity.name).toBe(first.entity);
  expect(resolved.value.layout).toBe(first.layout);
  expect(asOracle(resolved.value.target)).toEqual(first.target);
};
