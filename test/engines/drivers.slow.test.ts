import { DatabaseSync } from "node:sqlite";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { iuid, toBytes } from "../../src/ids/index.ts";
import { enginePackages, type Packages, type Uninstalled } from "./packages.ts";
import { openDuckdb } from "./servers/duckdb.ts";
import { startMariadb } from "./servers/mariadb.ts";
import { startPostgres } from "./servers/postgres.ts";

/** Drivers and mappers with a Snowflake and a DistributedId: what `docs/guides/databases.md` says of each, on real servers. */

const SNOWFLAKE = "1541815603606036481";
const NEXT = "1541815603606036482";
const ROUNDED = 1541815603606036500;
const DIGITS = "1119204855355262683623920809";
const ROUNDED_DIGITS = 1.1192048553552626e27;
const UINT64 = "18446744073709551615";
const UUID = "019b76da-a800-7005-8040-000000000001";
const IUID = "019b76da-a800-8005-8040-00000000001f";

const packages = (await enginePackages()) as Packages;
const bytes = ((result) => (result.ok ? result.value : new Uint8Array()))(toBytes(iuid, IUID));
/** Each `bigint` as a text that says so. */
const shown = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `${item}n` : item)));

const CHILDREN = `CREATE TABLE children (cid INT PRIMARY KEY, parent BIGINT, d DECIMAL(28,0));
  INSERT INTO children VALUES (1, ${SNOWFLAKE}, ${DIGITS})`;

/** Two tables of Drizzle, and their relation. */
const drizzleTables = (core: string, table: string, integer: string, decimal: string) => {
  const of = packages.load(`drizzle-orm/${core}`);
  const { relations } = packages.load("drizzle-orm");
  const parents = of[table]("ids", {
    id: of.bigint("id", { mode: "bigint" }).primaryKey(),
    d: of[decimal]("d", { precision: 28, scale: 0 }),
  });
  const children = of[table]("children", {
    cid: of[integer]("cid").primaryKey(),
    parent: of.bigint("parent", { mode: "bigint" }),
    d: of[decimal]("d", { precision: 28, scale: 0 }),
  });
  const ofParents = relations(parents, ({ many }: Uninstalled) => ({ children: many(children) }));
  const toParents = { fields: [children.parent], references: [parents.id] };
  const ofChildren = relations(children, ({ one }: Uninstalled) => ({ parent: one(parents, toParents) }));
  return { parents, children, schema: { parents, children, ofParents, ofChildren } };
};

describe.skipIf(packages === undefined)("MariaDB", () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  beforeAll(async () => {
    server = await startMariadb(packages);
    await server?.run(`CREATE TABLE ids (id BIGINT PRIMARY KEY, d DECIMAL(28,0), u BIGINT UNSIGNED, x UUID, b BINARY(16));
      INSERT INTO ids VALUES (${SNOWFLAKE}, ${DIGITS}, ${UINT64}, '${UUID}', x'${IUID.replaceAll("-", "")}');
      ${CHILDREN}`);
  }, 60_000);
  afterAll(() => server?.close());

  const BIG = { supportBigNumbers: true };

  /** Opens a connection for one test. */
  const withMysql2 = async <Value>(
    options: object,
    use: (connection: Uninstalled) => Promise<Value>,
  ): Promise<Value> => {
    const connection = await packages.load("mysql2/promise").createConnection({ ...server?.connection, ...options });
    return use(connection).finally(() => connection.end());
  };

  it.for([
    [{}, { id: ROUNDED, d: DIGITS, u: 18446744073709552000, x: UUID }],
    [BIG, { id: SNOWFLAKE, d: DIGITS, u: UINT64, x: UUID }],
  ] as const)("mysql2 with %j", async ([options, row], { skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    await withMysql2(options, async (connection) => {
      for (const how of ["query", "execute"]) {
        const [[found]] = await connection[how]("SELECT id, d, u, x FROM ids");
        expect(found).toEqual(row);
      }
      const json = "SELECT JSON_OBJECT('id', id, 'd', d) AS o FROM ids";
      const isExact = "supportBigNumbers" in options;
      expect((await connection.query(json))[0][0].o).toEqual(
        isExact ? { id: SNOWFLAKE, d: DIGITS } : { id: ROUNDED, d: ROUNDED_DIGITS },
      );
    });
  });

  it("mysql2 takes bytes as Uint8Array and as Buffer", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    await withMysql2({}, async (connection) => {
      for (const how of ["query", "execute"]) {
        for (const value of [bytes, Buffer.from(bytes.buffer)]) {
          expect((await connection[how]("SELECT id FROM ids WHERE b = ?", [value]))[0]).toHaveLength(1);
        }
      }
    });
  });

  it("mariadb reads exactly, and takes bytes as Buffer alone: a Uint8Array is sent as a JSON text", async ({
    skip,
  }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const connection = await packages.load("mariadb").createConnection(server.connection);
    try {
      const [row] = await connection.query("SELECT id, d, u, x FROM ids");
      expect(row).toEqual({ id: BigInt(SNOWFLAKE), d: DIGITS, u: BigInt(UINT64), x: UUID });
      const [{ o }] = await connection.query("SELECT JSON_OBJECT('id', id, 'd', d) AS o FROM ids");
      expect(o).toEqual({ id: ROUNDED, d: ROUNDED_DIGITS });
      for (const how of ["query", "execute"]) {
        const find = (value: Uint8Array) => connection[how]("SELECT id FROM ids WHERE b = ?", [value]);
        expect(await find(Buffer.from(bytes.buffer))).toHaveLength(1);
        expect(await find(bytes)).toHaveLength(0);
      }
      await connection.query("CREATE TABLE wide (b VARBINARY(255))");
      await connection.query("INSERT INTO wide VALUES (?)", [bytes.subarray(0, 2)]);
      expect(await connection.query("SELECT CONVERT(b USING utf8mb4) AS text FROM wide")).toEqual([
        { text: '{"0":1,"1":155}' },
      ]);
    } finally {
      await connection.end();
    }
  });

  it.for([
    [{}, `${BigInt(ROUNDED - 20)}n`, 0, `${ROUNDED_DIGITS}`],
    [BIG, `${SNOWFLAKE}n`, 1, DIGITS],
  ] as const)("Drizzle on mysql2 with %j", async ([options, id, found, digits], { skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const { parents, schema } = drizzleTables("mysql-core", "mysqlTable", "int", "decimal");
    await withMysql2(options, async (connection) => {
      // The mode of MariaDB, which has no LATERAL.
      const database = packages.load("drizzle-orm/mysql2").drizzle(connection, { schema, mode: "planetscale" });
      const [row] = await database.select().from(parents);
      expect(shown(row)).toEqual({ id, d: DIGITS });
      const { eq } = packages.load("drizzle-orm");
      expect(await database.select().from(parents).where(eq(parents.id, row.id))).toHaveLength(found);
      const [nested] = shown(await database.query.parents.findMany({ with: { children: true } })) as [
        { children: object },
      ];
      expect(nested.children).toEqual([{ cid: 1, parent: id, d: digits }]);
    });
  });

  it("a list of two texts is compared with DECIMAL(28,0) as doubles; what is cast is exact", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const before = `${BigInt(DIGITS) - 1n}`;
    await server.run(
      `CREATE TABLE invoices (id DECIMAL(28,0) PRIMARY KEY); INSERT INTO invoices VALUES (${before}), (${DIGITS})`,
    );
    const texts = [DIGITS, "1"];
    const numbers = texts.map(BigInt);
    const connector = await packages.load("mariadb").createConnection(server.connection);
    const knex = packages.load("knex").knex({ client: "mysql2", connection: server.connection });
    const { DataSource, EntitySchema, In } = packages.load("typeorm");
    const id = { type: "decimal", precision: 28, scale: 0, primary: true };
    const entity = new EntitySchema({ name: "invoices", columns: { id } });
    const source = new DataSource({ type: "mariadb", ...server.connection, username: "root", entities: [entity] });
    await source.initialize();
    const core = packages.load("drizzle-orm/mysql-core");
    const table = core.mysqlTable("invoices", { id: core.decimal("id", { precision: 28, scale: 0 }) });
    const { inArray } = packages.load("drizzle-orm");
    const sql = "SELECT id FROM invoices WHERE id IN (?, ?)";
    const listed = "SELECT id FROM invoices WHERE id IN (?)";
    try {
      await withMysql2({}, async (connection) => {
        const database = packages.load("drizzle-orm/mysql2").drizzle(connection);
        const finds = {
          "mysql2 query": async (ids: unknown) => (await connection.query(listed, [ids]))[0],
          "mysql2 execute": async (ids: unknown) => (await connection.execute(sql, ids))[0],
          "mariadb query": (ids: unknown) => connector.query(sql, ids),
          "mariadb execute": (ids: unknown) => connector.execute(sql, ids),
          Knex: (ids: unknown) => knex("invoices").whereIn("id", ids),
          TypeORM: (ids: unknown) => source.getRepository(entity).findBy({ id: In(ids) }),
          Drizzle: (ids: unknown) => database.select().from(table).where(inArray(table.id, ids)),
        };
        for (const [name, find] of Object.entries(finds)) {
          // A prepared statement of mysql2 sends a bigint as text.
          const found = name === "mysql2 execute" ? 2 : 1;
          expect([name, (await find(texts)).length, (await find(numbers)).length]).toEqual([name, 2, found]);
        }
        const cast = "CAST(? AS DECIMAL(28,0))";
        const casts = `SELECT id FROM invoices WHERE id IN (${cast}, ${cast})`;
        expect((await connection.execute(casts, texts))[0]).toHaveLength(1);
        expect((await connection.execute("SELECT id FROM invoices WHERE id = ?", [DIGITS]))[0]).toHaveLength(1);
      });
    } finally {
      await Promise.all([connector.end(), knex.destroy(), source.destroy()]);
    }
  });

  it.for([
    [{}, ROUNDED],
    [BIG, SNOWFLAKE],
  ] as const)("Kysely, Knex and Objection on mysql2 with %j", async ([options, id], { skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const connection = { ...server.connection, ...options };
    const { Kysely, MysqlDialect } = packages.load("kysely");
    const kysely = new Kysely({ dialect: new MysqlDialect({ pool: packages.load("mysql2").createPool(connection) }) });
    const knex = packages.load("knex").knex({ client: "mysql2", connection });
    try {
      expect(await kysely.selectFrom("ids").select("id").execute()).toEqual([{ id }]);
      expect(shown(await knex("ids").select("id"))).toEqual([{ id }]);
      class Row extends packages.load("objection").Model {
        static tableName = "ids";
      }
      expect(
        shown(await (Row as unknown as { bindKnex: (on: unknown) => typeof knex }).bindKnex(knex).query().select("id")),
      ).toEqual([{ id }]);
    } finally {
      await Promise.all([kysely.destroy(), knex.destroy()]);
    }
  });

  it("TypeORM makes a UUID column on mariadb, which refuses iUIDs, and a text on mysql", async ({ skip }) => {
    if (server === undefined) return skip("MariaDB is not installed");
    const { DataSource, EntitySchema } = packages.load("typeorm");
    const entity = new EntitySchema({ name: "typed", columns: { id: { type: "uuid", primary: true } } });
    for (const type of ["mariadb", "mysql"]) {
      const source = new DataSource({
        type,
        ...server.connection,
        username: "root",
        entities: [entity],
        synchronize: true,
      });
      await source.initialize();
      const inserted = source.getRepository(entity).insert({ id: "019b76da-a800-8005-8040-000000000001" });
      if (type === "mariadb") await expect(inserted).rejects.toThrow("Incorrect uuid value");
      else await inserted;
      await source.query("DROP TABLE typed");
      await source.destroy();
    }
  });
});

describe.skipIf(packages === undefined)("PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let client: Uninstalled;
  beforeAll(async () => {
    server = await startPostgres(packages);
    await server.run(`CREATE TABLE ids (id bigint PRIMARY KEY, d numeric(28,0), x uuid, b bytea);
      INSERT INTO ids VALUES (${SNOWFLAKE}, ${DIGITS}, '${UUID}', '\\x${IUID.replaceAll("-", "")}'); ${CHILDREN}`);
    const { Client } = packages.load("pg");
    client = new Client(server.connection);
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    await client?.end();
    await server?.close();
  });

  it.for([
    ["a column", "SELECT id, d, x FROM ids", { id: SNOWFLAKE, d: DIGITS, x: UUID }],
    ["bigint[], uuid[]", "SELECT array_agg(id) AS id, array_agg(x) AS x FROM ids", { id: [SNOWFLAKE], x: [UUID] }],
    ["numeric[]", "SELECT array_agg(d) AS d FROM ids", { d: [ROUNDED_DIGITS] }],
    ["numeric[] as text[]", "SELECT array_agg(d::text) AS d FROM ids", { d: [DIGITS] }],
    ["json_agg", "SELECT json_agg(id) AS id, jsonb_agg(d) AS d FROM ids", { id: [ROUNDED], d: [ROUNDED_DIGITS] }],
    ["json of texts", "SELECT json_build_object('id', id::text) AS o FROM ids", { o: { id: SNOWFLAKE } }],
  ] as const)("pg reads %s", async ([, sql, row]) => {
    expect((await client.query(sql)).rows).toEqual([row]);
  });

  it("pg takes bytes as Uint8Array and as Buffer", async () => {
    for (const value of [bytes, Buffer.from(bytes.buffer)]) {
      expect((await client.query("SELECT id FROM ids WHERE b = $1", [value])).rows).toHaveLength(1);
    }
  });

  it("has no min(uuid)", async () => {
    await expect(client.query("SELECT min(x) FROM ids")).rejects.toThrow("function min(uuid) does not exist");
  });

  it("Drizzle joins exactly, and rounds children of a relational query", async () => {
    const { parents, children, schema } = drizzleTables("pg-core", "pgTable", "integer", "numeric");
    const database = packages.load("drizzle-orm/node-postgres").drizzle(client, { schema });
    const { eq } = packages.load("drizzle-orm");
    const row = { id: `${SNOWFLAKE}n`, d: DIGITS };
    const joined = await database.select().from(parents).innerJoin(children, eq(children.parent, parents.id));
    expect(shown(joined)).toEqual([{ ids: row, children: { cid: 1, parent: row.id, d: DIGITS } }]);
    const nested = await database.query.parents.findMany({ with: { children: true } });
    const lost = { cid: 1, parent: `${BigInt(ROUNDED - 20)}n`, d: `${ROUNDED_DIGITS}` };
    expect(shown(nested)).toEqual([{ ...row, children: [lost] }]);
  });
});

it("PGlite reads a bigint beyond 2^53 as bigint, numeric[] as texts, and rounds in JSON", async () => {
  const database = await PGlite.create();
  const sql = `SELECT 5::bigint AS small, ${SNOWFLAKE}::bigint AS id, array[${DIGITS}::numeric] AS d, json_build_object('id', ${SNOWFLAKE}) AS o`;
  const { rows } = await database.query(sql);
  expect(rows).toEqual([{ small: 5, id: BigInt(SNOWFLAKE), d: [DIGITS], o: { id: ROUNDED } }]);
  await database.close();
});

describe.skipIf(packages === undefined)("SQLite", () => {
  const FILL = `CREATE TABLE ids (id INTEGER PRIMARY KEY, b BLOB); INSERT INTO ids VALUES (${SNOWFLAKE}, x'01'), (${NEXT}, x'02')`;
  const all = "SELECT id FROM ids ORDER BY id";
  const exact = [{ id: BigInt(SNOWFLAKE) }, { id: BigInt(NEXT) }];

  it("node:sqlite throws rather than rounds", () => {
    const database = new DatabaseSync(":memory:");
    database.exec(FILL);
    const statement = database.prepare(all);
    expect(() => statement.all()).toThrow("too large");
    statement.setReadBigInts(true);
    expect(statement.all().map((row) => ({ ...row }))).toEqual(exact);
    database.close();
  });

  it("better-sqlite3 rounds without safeIntegers", () => {
    const database = packages.load("better-sqlite3")(":memory:");
    database.exec(FILL);
    expect(database.prepare(all).all()).toEqual([{ id: ROUNDED }, { id: ROUNDED }]);
    expect(database.prepare(all).safeIntegers().all()).toEqual(exact);
    expect(database.prepare("SELECT hex(?) AS h").get(bytes)).toEqual({ h: IUID.replaceAll("-", "").toUpperCase() });
    database.close();
  });

  it("libSQL throws rather than rounds, and returns bytes as ArrayBuffer", async () => {
    const { createClient } = packages.load("@libsql/client");
    const read = async (intMode: string) => {
      const client = createClient({ url: ":memory:", intMode });
      await client.executeMultiple(FILL);
      const { rows } = await client.execute("SELECT id, b FROM ids ORDER BY id");
      client.close();
      return rows;
    };
    await expect(read("number")).rejects.toThrow("safely");
    const [row] = await read("bigint");
    expect(row.id).toBe(BigInt(SNOWFLAKE));
    expect(Object.prototype.toString.call(row.b)).toBe("[object ArrayBuffer]");
    expect((await read("string"))[0].id).toBe(SNOWFLAKE);
  });

  it("TypeORM merges rows whose bigint keys round alike", async () => {
    const { DataSource, EntitySchema } = packages.load("typeorm");
    const entity = new EntitySchema({
      name: "ids",
      columns: { id: { type: "bigint", primary: true }, b: { type: "blob" } },
    });
    const driver = packages.load("better-sqlite3");
    const source = new DataSource({
      type: "better-sqlite3",
      database: ":memory:",
      entities: [entity],
      synchronize: true,
      driver,
    });
    await source.initialize();
    await source.query(`INSERT INTO ids VALUES (${SNOWFLAKE}, x'01'), (${NEXT}, x'02')`);
    expect(await source.getRepository(entity).count()).toBe(2);
    expect(await source.getRepository(entity).find()).toHaveLength(1);
    await source.destroy();
  });
});

describe.skipIf(packages === undefined)("DuckDB", () => {
  it("getRowObjects and getRowObjectsJson are exact, getRowObjectsJS rounds decimals", async () => {
    const engine = await openDuckdb(packages);
    const { DuckDBInstance } = packages.load("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const sql = `SELECT ${SNOWFLAKE}::BIGINT AS id, ${UINT64}::UBIGINT AS u, ${DIGITS}::DECIMAL(28,0) AS d, '${UUID}'::UUID AS x`;
    const reader = await connection.runAndReadAll(sql);
    const [row] = reader.getRowObjects();
    expect([row.id, row.u, `${row.d}`, `${row.x}`]).toEqual([BigInt(SNOWFLAKE), BigInt(UINT64), DIGITS, UUID]);
    expect(reader.getRowObjectsJson()).toEqual([{ id: SNOWFLAKE, u: UINT64, d: DIGITS, x: UUID }]);
    expect(reader.getRowObjectsJS()).toEqual([
      { id: BigInt(SNOWFLAKE), u: BigInt(UINT64), d: ROUNDED_DIGITS, x: UUID },
    ]);
    await engine.close();
  });
});
