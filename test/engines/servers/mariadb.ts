import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithParent, stopChild } from "../../../src/host/child.ts";
import type { Packages, Uninstalled } from "../packages.ts";
import { commandOf, connectWhenUp, type Engine } from "./engine.ts";

/** A server on a socket in a folder of its own. `undefined`: MariaDB is not installed. */
export const startMariadb = async ({ load }: Packages) => {
  const installs = commandOf("mariadb-install-db");
  const serves = commandOf("mariadbd");
  if (installs === undefined || serves === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "waybill-maria-"));
  const data = `--datadir=${join(folder, "data")}`;
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const install = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", data, ...user];
  execFileSync(installs, install, { stdio: "ignore" });
  const socketPath = join(folder, "socket");
  const lasting = ["--skip-networking", "--innodb-flush-log-at-trx-commit=0"];
  const options = [
    "--no-defaults",
    data,
    `--socket=${socketPath}`,
    `--pid-file=${join(folder, "pid")}`,
    ...lasting,
    ...user,
  ];
  const child = spawn(serves, options, { stdio: "ignore" });
  endWithParent(child);
  const connection = { socketPath, user: "root", database: "ids" };
  const client = await connectWhenUp(
    (): Promise<Uninstalled> =>
      load("mysql2/promise").createConnection({
        socketPath,
        user: "root",
        multipleStatements: true,
        supportBigNumbers: true,
      }),
  );
  await client.query("CREATE DATABASE ids");
  await client.query("USE ids");
  const list: Engine["list"] = async (sql) => {
    const [rows] = await client.query({ sql, rowsAsArray: true });
    return rows.map(([first]: unknown[]) => String(first));
  };
  const [version = ""] = await list("SELECT version()");
  return {
    title: `MariaDB ${version.split("-")[0]}`,
    /** For drivers of a test's own. */
    connection,
    run: (sql: string) => client.query(sql),
    list,
    close: async () => {
      await client.end();
      await stopChild(child);
      rmSync(folder, { recursive: true, force: true });
    },
  } satisfies Engine & { connection: object };
};
