import chatWorkers from "../../../docs/examples/configurations/chat-workers.json" with { type: "json" };
import chatWorkersRequests from "../../../docs/examples/configurations/chat-workers.requests.json" with {
  type: "json",
};
import codeHost from "../../../docs/examples/configurations/code-host-cells.json" with { type: "json" };
import codeHostRequests from "../../../docs/examples/configurations/code-host-cells.requests.json" with {
  type: "json",
};
import errorTracker from "../../../docs/examples/configurations/error-tracker-cells.json" with { type: "json" };
import errorTrackerRequests from "../../../docs/examples/configurations/error-tracker-cells.requests.json" with {
  type: "json",
};
import headerMatches from "../../../docs/examples/configurations/header-matches.json" with { type: "json" };
import headerMatchesRequests from "../../../docs/examples/configurations/header-matches.requests.json" with {
  type: "json",
};
import meshHeader from "../../../docs/examples/configurations/mesh-header.json" with { type: "json" };
import meshHeaderRequests from "../../../docs/examples/configurations/mesh-header.requests.json" with { type: "json" };
import machines from "../../../docs/examples/configurations/platform-machines.json" with { type: "json" };
import machinesRequests from "../../../docs/examples/configurations/platform-machines.requests.json" with {
  type: "json",
};

/** A request of a configuration, and what the original does with it. */
export interface ConfiguredRequest {
  readonly method?: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Unless given, the configuration's. */
  readonly host?: string;
  readonly headers?: readonly (readonly string[])[];
  /** The region that gets it. */
  readonly to?: string;
  /** Path and query that the origin gets; unless given, `target`. */
  readonly seen?: string;
  /** Why the original refuses it. */
  readonly refused?: string;
  /** Why, where it is not plain. */
  readonly why?: string;
}

export interface Requests {
  /** The original. */
  readonly of: string;
  readonly host: string;
  /** Keys of each directory, with their regions. */
  readonly directory?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly requests: readonly ConfiguredRequest[];
}

/** Configurations of other gateways as routing tables, by the names of their files in docs/examples/configurations. */
export const CONFIGURATIONS: Readonly<Record<string, { readonly table: object; readonly requests: Requests }>> = {
  "error-tracker-cells": { table: errorTracker, requests: errorTrackerRequests },
  "code-host-cells": { table: codeHost, requests: codeHostRequests },
  "mesh-header": { table: meshHeader, requests: meshHeaderRequests },
  "header-matches": { table: headerMatches, requests: headerMatchesRequests },
  "platform-machines": { table: machines, requests: machinesRequests },
  "chat-workers": { table: chatWorkers, requests: chatWorkersRequests },
};
