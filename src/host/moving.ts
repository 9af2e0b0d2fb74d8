import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { foreignState } from "./machines/folder.ts";
import { runToken } from "./run-token.ts";
import { workerdConfig } from "./workerd/config.ts";
import { DURABLE_OBJECTS } from "./workerd/config-text.ts";
import { KV_FOLDER, OBJECTS_FOLDER, writeConfig } from "./workerd/gateway.ts";
import { writeWorker } from "./workerd/modules.ts";
import { workerWith } from "./workerd/table-modules.ts";
import { CONFIG_FILE, refuseRunning, startWorkerd } from "./workerd/workerd.ts";

/** The state of a stopped gateway, as its own pages show it to one caller. */
export interface OpenedState {
  readonly url: string;
  readonly token: string;
  /** IDs of the objects on disk, by the binding of their namespace. */
  readonly objects: ReadonlyMap<string, readonly string[]>;
  stop(): Promise<void>;
}

/** An export of copies would have a part of the objects alone, and an import into them would be lost. */
const COPIES = "It has copies alone: move the state of several machines with --gateway and the URL of a state node.";

/** In the state folder, for as long as it is open. */
const FOLDER = "moving";

/**
 * Serves this version's `/-/state` on the folder of a stopped gateway, at a port that the system chooses, to a token of this run. Its
 * objects only move rows: no table is served, no check of an origin runs, and alarms wait. Throws if the state is in use or not there.
 */
export async function openState(stateFolder: string, isNew: boolean): Promise<OpenedState> {
  const foreign = foreignState(stateFolder, "machine");
  if (foreign !== undefined) throw new Error(`${foreign} ${COPIES}`);
  if (!isNew && !existsSync(join(stateFolder, OBJECTS_FOLDER)))
    throw new Error(`${stateFolder} is no state of a gateway: it has no folder ${OBJECTS_FOLDER}`);
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  const folder = realpathSync(stateFolder);
  refuseRunning(folder);
  const [kvFolder, durableObjectsFolder] = [join(folder, KV_FOLDER), join(folder, OBJECTS_FOLDER)];
  for (const own of [kvFolder, durableObjectsFolder]) mkdirSync(own, { recursive: true });
  const objects = new Map(DURABLE_OBJECTS.map(([binding, , key]) => [binding, idsIn(join(durableObjectsFolder, key))]));
  const modules = await workerWith("{}");
  mkdirSync(join(folder, FOLDER), { recursive: true });
  writeWorker(join(folder, FOLDER), modules);
  const { token, entry } = runToken("state");
  // In place of a served one: neither starts while the other runs.
  const configPath = join(folder, CONFIG_FILE);
  const kept = join(folder, FOLDER, CONFIG_FILE);
  // An earlier run that was killed has left its own there.
  if (existsSync(configPath) && !existsSync(kept)) renameSync(configPath, kept);
  const config = workerdConfig({
    address: "127.0.0.1:0",
    kvFolder,
    durableObjectsFolder,
    workerFolder: `${FOLDER}/worker`,
    modules: modules.map(({ name }) => name),
    vars: {
      STATE_MOVES: "on",
      ADMIN_TOKENS: JSON.stringify([entry]),
      CLIENT_ADDRESS: "socket",
      REQUEST_LOG: "off",
      REPORT_SECONDS: "0",
    },
  });
  writeConfig(configPath, config);
  const clean = () => {
    rmSync(configPath, { force: true });
    // The next start compares its settings with it.
    if (existsSync(kept)) renameSync(kept, configPath);
    rmSync(join(folder, FOLDER), { recursive: true, force: true });
  };
  try {
    const workerd = await startWorkerd({ configPath });
    const stop = async () => {
      await workerd.stop();
      clean();
    };
    return { url: workerd.url, token, objects, stop };
  } catch (error) {
    clean();
    throw error;
  }
}

const OBJECT = /^([0-9a-f]{64})\.sqlite$/;

const idsIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .flatMap((name) => OBJECT.exec(name)?.[1] ?? [])
        .toSorted()
    : [];
