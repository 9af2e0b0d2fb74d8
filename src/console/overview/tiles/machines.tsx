import { isBehind } from "../../../formats/machines.ts";
import type { ShownMachines } from "../../../formats/table-api.ts";
import { Tag } from "../../app/parts/state.tsx";
import { Table } from "../../app/parts/table.tsx";
import { agoText, plural } from "../../app/words.ts";

/** Edges, by what their mirrors have, and the state nodes that they ask. */
export function MachinesView({ machines: { edges, nodes, published } }: { machines: ShownMachines }) {
  const silent = new Set(edges.flatMap((edge) => edge.silent ?? []));
  const known = [...new Set([...nodes.map(({ address }) => address), ...silent])].toSorted();
  return (
    <>
      {edges.length === 0 ? (
        <p>No edge has asked in the last 10 minutes.</p>
      ) : (
        <Table
          label="Edges"
          columns={[
            { name: "Edge" },
            { name: "Revision", isNumber: true },
            { name: "Mirror" },
            { name: "Last asked" },
            { name: "Version" },
            { name: "Processes", isNumber: true },
          ]}
          rows={edges.map(({ name, revision, change, ageMs, heardAt, version, processes }) => ({
            key: name,
            cells: [
              name,
              <>
                {isBehind({ revision, change }, published) && <Tag kind="warn">behind</Tag>} {revision}
              </>,
              `${plural(Math.round(ageMs / 1000), "second")} old when it asked`,
              agoText(heardAt),
              version,
              processes,
            ],
          }))}
        />
      )}
      {known.length > 0 && (
        <Table
          label="State nodes"
          columns={[{ name: "State node" }, { name: "Answers edges" }, { name: "Last asked" }, { name: "Version" }]}
          rows={known.map((address) => {
            const node = nodes.find((each) => each.address === address);
            const without = edges.filter((edge) => edge.silent?.includes(address)).map(({ name }) => name);
            return {
              key: address,
              cells: [
                <code key="address">{address}</code>,
                without.length === 0 ? "yes" : <Tag kind="warn">not {without.join(", ")}</Tag>,
                node === undefined ? "not heard of" : agoText(node.heardAt),
                node?.version ?? "–",
              ],
            };
          })}
        />
      )}
    </>
  );
}
