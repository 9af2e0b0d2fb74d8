import { isBehind } from "../../formats/machines.ts";
import type { ShownMachines } from "../../formats/table-api.ts";
import { Badge, Panel, Table } from "../app/parts.tsx";
import { agoText, plural } from "../app/words.ts";

/** Edges, by what their mirrors have, and the state nodes that they ask. */
export function MachinesPanel({ machines: { edges, nodes, published } }: { machines: ShownMachines }) {
  const silent = new Set(edges.flatMap((edge) => edge.silent ?? []));
  const known = [...new Set([...nodes.map(({ address }) => address), ...silent])].toSorted();
  return (
    <Panel title="Machines">
      {edges.length === 0 ? (
        <small>No edge has asked in the last 10 minutes.</small>
      ) : (
        <Table label="Edges" columns={["Edge", { number: "Revision" }, "Mirror", "Last asked", "Version", "Processes"]}>
          {edges.map(({ name, revision, change, ageMs, heardAt, version, processes }) => (
            <tr key={name}>
              <th scope="row" class="whole">
                {name}
              </th>
              <td class="number">
                {isBehind({ revision, change }, published) && <Badge mood="warn">behind</Badge>} {revision}
              </td>
              <td>{plural(Math.round(ageMs / 1000), "second")} old when it asked</td>
              <td>{agoText(heardAt)}</td>
              <td>{version}</td>
              <td>{processes}</td>
            </tr>
          ))}
        </Table>
      )}
      {known.length > 0 && (
        <Table label="State nodes" columns={["State node", "Answers edges", "Last asked", "Version"]}>
          {known.map((address) => {
            const node = nodes.find((each) => each.address === address);
            const without = edges.filter((edge) => edge.silent?.includes(address)).map(({ name }) => name);
            return (
              <tr key={address}>
                <th scope="row" class="whole">
                  <code>{address}</code>
                </th>
                <td>{without.length === 0 ? "yes" : <Badge mood="warn">not {without.join(", ")}</Badge>}</td>
                <td>{node === undefined ? "" : agoText(node.heardAt)}</td>
                <td>{node?.version}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </Panel>
  );
}
