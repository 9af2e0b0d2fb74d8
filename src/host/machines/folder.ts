import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Whose a state folder is. That of an unclustered state node is one machine's: each takes over the other's. */
type Owner = "edge" | "cluster";

/** In a state folder whose contents are copies: of state nodes' values, or of a bucket's objects. */
const ROLE_FILE = "role";

const NAMES: Readonly<Record<Owner | "machine", string>> = {
  edge: "the folder of an edge",
  cluster: "the folder of a node of a cluster",
  machine: "the state of one machine",
};

const ownerOf = (folder: string): Owner | "machine" | undefined => {
  const path = join(folder, ROLE_FILE);
  if (existsSync(path)) return readFileSync(path, "utf8").trim() === "edge" ? "edge" : "cluster";
  return existsSync(join(folder, "durable-objects")) ? "machine" : undefined;
};

/** Why a folder cannot be served in this way; `undefined` if it can. */
export function foreignState(folder: string, owner: Owner | "machine"): string | undefined {
  const found = ownerOf(folder);
  if (found === undefined || found === owner) return undefined;
  const remedy =
    found === "machine"
      ? `Name an empty folder with --state; \`waybill state export --state ${folder} --out FILE\` writes what is in it into a file, and \`waybill state import FILE\` reads it`
      : "Name another folder with --state";
  return `${folder} is ${NAMES[found]}. ${remedy}.`;
}

/** Makes the folder of a role, or takes the one that is there. Gives its real path. Throws for another's. */
export function claimFolder(folder: string, owner: Owner): string {
  const foreign = foreignState(folder, owner);
  if (foreign !== undefined) throw new Error(foreign);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ROLE_FILE), `${owner}\n`);
  return realpathSync(folder);
}
