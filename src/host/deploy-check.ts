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

/** Whether a table may go to the edge: what is faulty never may, and what only this machine reaches is of no use there. */
export interface DeployCheck {
  readonly faults: readonly DeployFault[];
  /** Origins on loopback addresses. */
  readonly unreachable: readonly DeployFault[];
}

/** `tableText`: the declared table as it stands in its file. */
export function checkDeployable(tableText: string): DeployCheck {
  let declared: unknown;
  try {
    declared = JSON.parse(tableText);
  } catch (error) {
    const message = `It is not JSON: ${error instanceof Error ? error.message : error}`;
    return { faults: [{ pointer: "", message }], unreachable: [] };
  }
  const table = loadTable(declared, 1);
  return table.ok
    ? { faults: [], unreachable: loopbackOrigins(table.value) }
    : { faults: table.error, unreachable: [] };
}

const loopbackOrigins = (table: CompiledTable): DeployFault[] =>
  [...table.regions.values()].flatMap(({ name, origins }) =>
    origins.flatMap(({ url }, index) => {
      if (!LOOPBACK.test(new URL(url).hostname)) return [];
      const message = `${url} is on this machine; put the address at which the edge reaches region ${name}.`;
      return [{ pointer: `/regions/${name}/origins/${index}/url`, message }];
    }),
  );
