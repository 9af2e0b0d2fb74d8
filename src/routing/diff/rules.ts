import type { DeclaredRoute, DeclaredTable } from "../schema/table.ts";
import { diffKeysByRule } from "./diff.ts";
import type { KeyChange, KeyOutcome } from "./key-changes.ts";
import { canonical } from "./key-space.ts";

/** The index of a route, or the default region. `undefined`: neither takes the IDs. */
export type RuleName = number | "default" | undefined;

/** Keys that go elsewhere, with what decides about them before and after. */
export interface RuleChange {
  readonly keys: KeyChange;
  readonly before: RuleName;
  readonly after: RuleName;
}

export interface RuleDiff {
  readonly changes: readonly RuleChange[];
  /** Rules of the table before whose IDs all go elsewhere, single entities aside. */
  readonly whole: ReadonlySet<RuleName>;
}

const DEFAULT = "default";

/** Compares checked tables, like `diffTables`, and says which route took the keys and which one takes them. */
export const diffRules = (before: DeclaredTable, after: DeclaredTable): RuleDiff => {
  const names = namesOf([...before.routes, ...after.routes]);
  const nameOf = (route: DeclaredRoute) => names.get(route) ?? canonical(route);
  const ruleOf = (route: DeclaredRoute | undefined) => (route === undefined ? DEFAULT : nameOf(route));
  const left = rulesOf(before, nameOf);
  const right = rulesOf(after, nameOf);
  const all = diffKeysByRule(before, after, ruleOf);
  const kept = new Set(all.flatMap(({ percent, before: own }) => (percent === undefined ? [] : [own?.rule])));
  for (const name of right.keys()) if (name !== DEFAULT || before.default === after.default) kept.add(name);
  // The others go where they went, by another route.
  const elsewhere = all.filter(({ percent }) => percent !== 0);
  return {
    changes: elsewhere.map((keys) => ({
      keys: { ...keys, before: plain(keys.before), after: plain(keys.after) },
      before: ruleIn(left, keys.before),
      after: ruleIn(right, keys.after),
    })),
    whole: new Set(
      elsewhere.flatMap(({ before: own }) => (own === undefined || kept.has(own.rule) ? [] : [ruleIn(left, own)])),
    ),
  };
};

/** Routes that say the same have one name, whatever the order of their members. Most are written alike, and are read once. */
function namesOf(routes: readonly DeclaredRoute[]): ReadonlyMap<DeclaredRoute, string> {
  const byText = new Map<string, string>();
  return new Map(
    routes.map((route) => {
      const text = JSON.stringify(route);
      const name = byText.get(text) ?? canonical(route);
      byText.set(text, name);
      return [route, name];
    }),
  );
}

type Rules = ReadonlyMap<string, RuleName>;

/** The first of two routes that say the same decides. */
const rulesOf = ({ routes, ...table }: DeclaredTable, nameOf: (route: DeclaredRoute) => string): Rules => {
  const found = new Map<string, RuleName>(table.default === undefined ? [] : [[DEFAULT, "default"]]);
  for (const [index, route] of routes.entries()) {
    const name = nameOf(route);
    if (!found.has(name)) found.set(name, index);
  }
  return found;
};

const ruleIn = (rules: Rules, outcome: KeyOutcome | undefined): RuleName => rules.get(outcome?.rule ?? "");

const plain = (outcome: KeyOutcome | undefined): KeyOutcome | undefined => {
  if (outcome === undefined) return undefined;
  const { rule: _, ...own } = outcome;
  return own;
};
