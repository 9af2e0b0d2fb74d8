import { readConfig } from "../../../src/edge/config.ts";
import { mesh } from "../../../src/features/mesh/edge/index.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type Seen, setUp } from "../harness.ts";

/** Gateways of one mesh in one process: each asks the others and its origins by a function. */

export const NAMES = ["eu", "us", "ap"] as const;
export type Name = (typeof NAMES)[number];

const KEY = btoa("32 octets that gateways alone know");
export const PEER_KEYS = JSON.stringify([{ id: "2026a", key: KEY }]);

const { eu, us, ap } = DECLARED_TABLE.regions;

/** The table of the fixtures, with a gateway for each region. */
export const MESH_TABLE = {
  ...DECLARED_TABLE,
  regions: {
    eu: { ...eu, gateway: "http://eu-gw.internal" },
    us: { ...us, gateway: "http://us-gw.internal" },
    ap: { ...ap, gateway: "http://ap-gw.internal" },
  },
};

type Options = NonNullable<Parameters<typeof setUp>[0]>;
type World = ReturnType<typeof setUp>;

export interface MeshOptions extends Omit<Options, "gateway" | "fit"> {
  /** Options for one gateway alone. */
  readonly own?: Partial<Record<Name, Partial<Options> & { readonly settings?: Readonly<Record<string, string>> }>>;
  /** Between two gateways; by default the request as it was sent. */
  readonly between?: (request: Request, from: Name, to: Name) => Request | Response | Promise<Request | Response>;
  readonly gateway?: Partial<Gateway>;
}

export interface MeshWorld {
  readonly gateways: Readonly<Record<Name, World>>;
  /** Requests that origins got, whoever sent them. */
  readonly seen: (Seen & { readonly by: Name })[];
  /** Requests between gateways. */
  readonly hops: { readonly from: Name; readonly to: Name; readonly request: Request }[];
}

export function setUpMesh({ own = {}, between = (request) => request, ...options }: MeshOptions = {}): MeshWorld {
  const worlds = new Map<Name, World>();
  const seen: MeshWorld["seen"] = [];
  const hops: MeshWorld["hops"] = [];
  const answer = options.origin ?? ((request) => new Response(`from ${new URL(request.url).host}`));
  const worldOf = (name: Name): World => {
    const { settings, gateway, ...more } = own[name] ?? {};
    const config = readConfig({ SELF_REGIONS: name, PEER_KEYS, GATEWAY_NAME: `${name}-gw`, ...settings });
    const nowMs = more.nowMs ?? options.nowMs;
    const clock = { nowMs: () => nowMs ?? Date.now() };
    const counters = { count: () => undefined };
    const platform = { config, clock, counters } as unknown as Parameters<typeof mesh.ports>[0];
    const origin = more.origin ?? answer;
    return setUp({
      declared: MESH_TABLE,
      ...options,
      ...more,
      fit: mesh.fit(config),
      gateway: {
        pseudonym: { name: config.gatewayName, via: `1.1 ${config.gatewayName}` },
        ...options.gateway,
        ...gateway,
        ...mesh.ports(platform),
      },
      origin: async (request) => {
        const [, to] = /^http:\/\/(eu|us|ap)-gw\.internal\//.exec(request.url) ?? [];
        if (to === undefined) {
          const copy = request.clone();
          seen.push({
            by: name,
            url: request.url,
            method: request.method,
            headers: new Headers(request.headers),
            body: await copy.text(),
          });
          return origin(request);
        }
        hops.push({ from: name, to: to as Name, request: request.clone() as Request });
        const passed = await between(request, name, to as Name);
        return passed instanceof Response ? passed : (worlds.get(to as Name) as World).take(passed);
      },
    });
  };
  for (const name of NAMES) worlds.set(name, worldOf(name));
  return { gateways: Object.fromEntries(worlds) as MeshWorld["gateways"], seen, hops };
}
