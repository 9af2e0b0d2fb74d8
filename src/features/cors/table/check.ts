import type { TableChecks } from "../../../routing/check/feature.ts";
import type { Report } from "../../../routing/schema/faults.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { ANY } from "./compile.ts";
import { corsSchema, type DeclaredCors } from "./schema.ts";

/** An origin as browsers write it: lower case, and no default port. A `*` may stand for the first labels of a web host. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\*\.)?((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+\])(?::([1-9]\d{0,4}))?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };

const checkCors = ({ origins, credentials = false }: DeclaredCors, report: Report): void => {
  const seen = new Set<string>();
  for (const [index, origin] of origins.entries()) {
    const place = ["cors", "origins", index];
    if (seen.has(origin)) report("schema", place, `${JSON.stringify(origin)} is duplicated; remove one of them.`);
    seen.add(origin);
    if (origin === ANY || origin === "null") {
      if (credentials) {
        const who = origin === ANY ? "every page of the web" : "every sandboxed frame and local file";
        report("schema", place, `With credentials, ${JSON.stringify(origin)} would trust ${who}; list the origins.`);
      }
      continue;
    }
    const fault = faultOf(origin);
    if (fault !== undefined) report("schema", place, `${JSON.stringify(origin)} ${fault}`);
  }
  if (seen.has(ANY) && seen.size > 1)
    report("schema", ["cors", "origins"], '"*" allows every origin; remove the others.');
};

const faultOf = (origin: string): string | undefined => {
  const [, scheme = "", wildcard, host = "", port] = ORIGIN.exec(origin) ?? [];
  if (scheme === "") {
    return "is no origin; write scheme, host and port in lower case without a path, such as https://app.example.com.";
  }
  if (port !== undefined && (port === DEFAULT_PORTS[scheme] || Number(port) > 65_535)) {
    return `has a port that no browser sends with ${scheme}; remove it.`;
  }
  if (wildcard === undefined) return undefined;
  if (DEFAULT_PORTS[scheme] === undefined) return "has a `*` in a scheme without a domain; write the whole origin.";
  // Such a domain is not one company's.
  return host.includes(".") ? undefined : "would allow a whole top-level domain; name at least two labels.";
};

export const corsChecks: TableChecks = {
  name: "cors",
  schema: {
    table: {
      cors: optional(
        corsSchema,
        "Web pages that may read what the gateway itself answers. Origins answer for themselves.",
      ),
    },
  },
  requests: ({ table }, report) => {
    if (table.cors !== undefined) checkCors(table.cors, report);
  },
};
