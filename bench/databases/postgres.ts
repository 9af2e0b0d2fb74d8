import { PGlite } from "@electric-sql/pglite";
import { pageinspect } from "@electric-sql/pglite/contrib/pageinspect";
import type { Engine } from "./databases.bench.ts";

/** PostgreSQL as WebAssembly, in this process. */
export async function startPostgres(): Promise<Engine> {
  const database = await PGlite.create({ extensions: { pageinspect } });
  await database.exec("CREATE EXTENSION pageinspect");
  const figure = async (sql: string, parameters: readonly unknown[] = []): Promise<unknown> => {
    const { rows } = await database.query<{ figure: unknown }>(sql, [...parameters]);
    return rows[0]?.figure;
  };
  const position = () => figure("SELECT pg_current_wal_insert_lsn()::text AS figure");
  /** A page says where the log stood at its last change. The first page is about the index. */
  const changedSince = (before: unknown) =>
    figure(
      `SELECT count(*)::int AS figure
       FROM generate_series(1, pg_relation_size('ids_pkey') / 8192 - 1) AS page,
            page_header(get_raw_page('ids_pkey', page::int)) AS header
       WHERE header.lsn > $1::pg_lsn`,
      [before],
    );
  return {
    name: "PostgreSQL",
    version: String(await figure("SELECT split_part(version(), ' ', 2) AS figure")),
    async fill(batches) {
      await database.exec("DROP TABLE IF EXISTS ids; CREATE TABLE ids (id uuid PRIMARY KEY)");
      const touched: number[] = [];
      for (const { ids, isMeasured } of batches) {
        const before = isMeasured ? await position() : undefined;
        await database.query("INSERT INTO ids SELECT unnest($1::uuid[])", [ids]);
        if (isMeasured) touched.push(Number(await changedSince(before)));
      }
      const bytes = Number(await figure("SELECT pg_relation_size('ids_pkey') AS figure"));
      return { bytes, pages: bytes / 8192, touched };
    },
    stop: () => database.close(),
  };
}
