import { listOf } from "../schema/records.ts";
import type { DeclaredWithoutId } from "../schema/without-id.ts";
import type { LayoutHint, WithoutId } from "../table.ts";
import type { Asked, HostRank, PathConditions, Untaken } from "./asked.ts";
import { hostOf, labelOf } from "./values.ts";

/** Several owners of one pattern: the host chooses first, then the method. */

/** A path without a request: a GET, on a host that no condition names. */
export const PLAIN_READ: Asked = { method: "GET", preflightFor: undefined, servedHost: "" };

/** A request that an owner takes: one without methods takes a method that no table can list. */
export const takenBy = (conditions: PathConditions | undefined): Asked => ({
  method: conditions?.methods?.[0] ?? "*",
  preflightFor: undefined,
  servedHost: conditions?.hosts?.[0]?.replace("*", "any") ?? "",
});

export interface Rival<Owner> {
  readonly owner: Owner;
  readonly hint: LayoutHint | undefined;
  readonly conditions: PathConditions | undefined;
}

export class Choice<Owner> {
  readonly rivals: readonly Rival<Owner>[];
  private readonly byHost = new Map<string, Rival<Owner>[]>();
  private readonly elsewhere: Rival<Owner>[] = [];

  constructor(rivals: readonly Rival<Owner>[]) {
    this.rivals = rivals;
    for (const rival of rivals) {
      if (rival.conditions?.hosts === undefined) this.elsewhere.push(rival);
      for (const host of rival.conditions?.hosts ?? []) {
        this.byHost.set(host, [...(this.byHost.get(host) ?? []), rival]);
      }
    }
  }

  /** The owners on the host: a host by name before one with `*`, and both before all other hosts. */
  on({ servedHost, hostRankMin = 0 }: Asked): readonly Rival<Owner>[] {
    const elsewhere = hostRankMin === 0 ? this.elsewhere : [];
    if (this.byHost.size === 0) return elsewhere;
    const host = hostOf(servedHost);
    const [label, parent] = labelOf(host);
    const isByLabel = label !== "" && hostRankMin < 2;
    return this.byHost.get(host) ?? (isByLabel ? this.byHost.get(`*${parent}`) : undefined) ?? elsewhere;
  }

  /** The owner; else the methods that are taken instead; `undefined` where less specific patterns are asked. */
  of(asked: Asked): Rival<Owner> | readonly string[] | undefined {
    const here = this.on(asked);
    const method = asked.preflightFor ?? asked.method;
    const taker =
      here.find(({ conditions }) => conditions?.methods?.includes(method)) ??
      here.find(({ conditions }) => conditions?.methods === undefined);
    if (taker !== undefined) return taker;
    asked.passed?.push(this);
    const goesOn = here.length === 0 || here.some(({ conditions }) => conditions?.passesOthers);
    return goesOn ? undefined : methodsOf(here);
  }
}

/** Whether an entry takes a method. A preflight goes where its request would, if several entries share a path; one that is alone lists OPTIONS. */
export const takesMethod = (
  { methods, isShared }: Pick<WithoutId, "methods" | "isShared">,
  { method, preflightFor }: Pick<Asked, "method" | "preflightFor">,
): boolean => methods === undefined || methods.includes((isShared ? preflightFor : undefined) ?? method);

/** The methods that several owners take together. */
export const methodsOf = (rivals: readonly Rival<unknown>[]): readonly string[] => [
  ...new Set(rivals.flatMap(({ conditions }) => conditions?.methods ?? [])),
];

export const untakenOf = (passed: readonly Choice<unknown>[], asked: Asked): Untaken | undefined => {
  if (passed.length === 0) return undefined;
  const allow = [...new Set(passed.flatMap((choice) => methodsOf(choice.on(asked))))];
  return allow.length === 0 ? { isOtherHost: true } : { allow };
};

/** `undefined` for an owner of all requests on its paths. */
export const conditionsOf = ({
  methods,
  hosts,
  otherMethods,
}: Pick<DeclaredWithoutId, "methods" | "hosts" | "otherMethods">): PathConditions | undefined =>
  methods === undefined && hosts === undefined
    ? undefined
    : Object.freeze({
        methods: methods === undefined ? undefined : withHead(listOf(methods)),
        hosts,
        passesOthers: otherMethods === "next",
      });

/** GET includes HEAD (RFC 9110 §9.3.2: the same without the content). */
const withHead = (methods: readonly string[]): readonly string[] => [
  ...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))),
];

/**
 * Whether an entity takes all paths of an entry without an ID, but none of its requests. Hosts choose first: an entry
 * that names them more exactly would be for all methods there, of which the entity takes some.
 */
export const leavesTo = (entity: PathConditions | undefined, entry: PathConditions | undefined): boolean => {
  const { hosts, methods } = entity ?? {};
  if (hosts !== undefined && !entry?.hosts?.some((host) => hosts.some((own) => includesHost(own, host)))) return true;
  const isSameHost = entry?.hosts?.every((host) => hosts?.includes(host)) ?? true;
  return isSameHost && methods !== undefined && !entry?.methods?.some((method) => methods.includes(method));
};

const includesHost = (own: string, host: string): boolean =>
  own === host || (own.startsWith("*") && labelOf(host)[1] === own.slice(1));

/** How exactly hosts are named of which a request has one: the more exact owner chooses. */
export const hostRankOf = (conditions: PathConditions | undefined, { servedHost }: Asked): HostRank => {
  const hosts = conditions?.hosts;
  return hosts === undefined ? 0 : hosts.includes(hostOf(servedHost)) ? 2 : 1;
};

/** Whether no request is for both: on each host that both take, their methods differ. */
export const areDistinct = (a: PathConditions | undefined, b: PathConditions | undefined): boolean => {
  const isApart = (left: readonly string[] | undefined, right: readonly string[] | undefined): boolean =>
    left === undefined || right === undefined ? left !== right : !left.some((one) => right.includes(one));
  return isApart(a?.hosts, b?.hosts) || isApart(a?.methods, b?.methods);
};
