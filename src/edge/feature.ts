import type { Authenticate } from "../ports/admin.ts";
import type { Clock, Counters, Entropy, Gateway } from "../ports/gateway.ts";
import type { KeyOptions } from "./auth/access.ts";
import type { Config } from "./config.ts";
import type { Env } from "./env.ts";
import type { FitTable } from "./table/restored.ts";
import type { TableOpener } from "./table/table-gate.ts";

/** The core's part of the platform, of which each feature composes its own ports. */
export interface Platform {
  readonly env: Env;
  readonly config: Config;
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** The deployment's name in caches that it shares with others. */
  readonly namespace: string;
  readonly counters: Counters;
  readonly authenticate: Authenticate;
  /** For the keys of tokens' issuers. */
  readonly tokenKeys: KeyOptions;
}

/** The part of a feature that stands on the platform. `Ports`: its members of `Gateway`. */
export interface PlatformFeature<Ports extends Partial<Gateway> = Partial<Gateway>> {
  readonly name: string;
  /** Composed once per isolate. */
  ports(platform: Platform): Ports;
  /** Fits tables to the deployment, in each isolate and object that asks origins; `undefined`: they are served as they are. */
  fit?(config: Config): FitTable | undefined;
  /** Loads parts of a table before it is served. */
  opener?(ports: Ports): TableOpener;
}

type PortsOf<Feature> = Feature extends { ports(platform: Platform): infer Ports } ? (ports: Ports) => void : never;

/** All members of all features at once. */
export type PortsOfAll<Features extends readonly unknown[]> =
  PortsOf<Features[number]> extends (ports: infer All) => void ? All : never;

/** The ports of all features. A member of `Gateway` that neither the core nor a feature gives is an error of types. */
export function composeFeatures<const Features extends readonly PlatformFeature[]>(
  features: Features,
  platform: Platform,
): { readonly ports: PortsOfAll<Features>; readonly openers: readonly TableOpener[] } {
  const composed = features.map((feature) => ({ feature, ports: feature.ports(platform) }));
  return {
    ports: Object.assign({}, ...composed.map(({ ports }) => ports)),
    openers: composed.flatMap(({ feature, ports }) => feature.opener?.(ports) ?? []),
  };
}
