import { type CompiledTable, loadTable } from "../routing/index.ts";

/** Why a table must not go to the edge. */
export interface DeployFault {
  /** RFC 6901 JSON pointer. */
  readonly pointer: string;
  readonly message: string;
}

/** Names and addresses that mean the machine itself, wherever that is: RFC 6761 section 6.3, RFC 1122, RFC 4291. */
const LOOPBACK =
  /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/;

/** Faults of the table itself, and origins that only this machine can reach. Empty: it may be deployed. */
export function undeployable(tableText: string): readonly DeployFault[] {
  let declared: unknown;
  try {
    declared = JSON.parse(tableText);
  } catch (error) {
    return [{ pointer: "", message: `It is not JSON: ${error instanceof Error ? error.message : error}` }];
  }
  const table = loadTable(declared, 1);
  return table.ok ? loopbackOrigins(table.value) : table.error;
}

const loopbackOrigins = (table: CompiledTable): DeployFault[] =>
  [...table.regions.values()].flatMap(({ name, origins }) =>
    origins.flatMap(({ url }, index) =>
      LOOPBACK.test(new URL(url).hostname)
        ? [
            {
              pointer: `/regions/${name}/origins/${index}/url`,
              message: `${url} is the demo's origin on this machine; put the address at which the edge reaches region ${name}.`,
            },
          ]
        : [],
    ),
  );
