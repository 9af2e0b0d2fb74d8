/** Gives a table a column that its former version may not have. That reads and writes its own columns alone, so it may be NULL. */
export function addColumn(sql: SqlStorage, table: string, column: string, type: string): void {
  const known = sql.exec("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column).toArray();
  if (known.length === 0) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
}
