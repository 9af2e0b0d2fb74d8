import { testExamples as testFiles } from "../cli/commands/table/test.ts";
import { TABLE_FILE_DEFAULT } from "../cli/lib/input.ts";
import { loadPackFiles } from "../cli/lib/packs.ts";
import { checkText, compile, faultLine, formatFaults, placed } from "../cli/lib/table-file.ts";
import { processRuntime } from "../cli/process-runtime.ts";
import { explainRequest, wholeRequest } from "../features/places/serve/explain.ts";
import { err, ok, type Result } from "../ids/result.ts";
import { problemOf } from "../problems/index.ts";
import { type CompiledTable, TABLE_BYTES_MAX } from "../routing/index.ts";
import type * as library from "./types/table.d.ts";

/** `waybill/table`: checks a table, and explains requests by it. Its types are written by hand in `types/table.d.ts`. */

class InvalidTable extends Error {
  override readonly name = "InvalidTable";
  readonly faults: readonly library.TableFault[];

  constructor(file: string, faults: readonly library.TableFault[]) {
    const lines = faults.map((fault) => faultLine(file, fault));
    super(`${file} is not a valid routing table: ${formatFaults(faults.length)}\n${lines.join("")}`.trimEnd());
    this.faults = faults;
  }
}

const readTable = async (file: string): Promise<Result<CompiledTable, readonly library.TableFault[]>> => {
  const bytes = processRuntime.readFile(file);
  if (!bytes.ok) throw new Error(`${file} cannot be read: ${bytes.error}`);
  if (bytes.value.length > TABLE_BYTES_MAX)
    throw new RangeError(`${file} is larger than the ${TABLE_BYTES_MAX} bytes allowed for a table`);
  const table = checkText(bytes.value, compile);
  if (!table.ok) return table;
  const faults = await loadPackFiles(table.value, file, processRuntime);
  return faults.length === 0 ? table : err(placed(faults, bytes.value));
};

const checkTable: typeof library.checkTable = async (file = TABLE_FILE_DEFAULT) => {
  const table = await readTable(file);
  return table.ok ? [] : table.error.map(shownFault);
};

const loadTable: typeof library.loadTable = async (file = TABLE_FILE_DEFAULT) => {
  const table = await readTable(file);
  if (!table.ok) throw new InvalidTable(file, table.error.map(shownFault));
  return { regions: [...table.value.regions.keys()], explain: (request) => explain(table.value, request) };
};

const shownFault = ({ line, column, pointer, message }: library.TableFault) => ({ line, column, pointer, message });

const testExamples: typeof library.testExamples = (files) => testFiles(processRuntime, files);

/** Public IDs are read by a gateway alone, which has their keys; so are directories. */
const explain = (table: CompiledTable, request: library.ExplainedRequest): library.Explanation => {
  const { method, url, headers = {}, body = "", claims, country, continent, nowMs = Date.now() } = request;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const whole = wholeRequest(
    {
      method: method?.toUpperCase() ?? (bytes.length > 0 ? "POST" : "GET"),
      url,
      headers: Object.entries(headers),
      body: bytes,
      country,
      continent,
    },
    claims === undefined ? err({ reason: "authentication-unavailable" }) : ok(claims),
  );
  if (whole === undefined) throw new TypeError(`${url} is no path, and no URL with a host`);
  const input = {
    tables: { table, canary: undefined },
    layoutName: undefined,
    ports: { publicIds: { open: () => ok(undefined) } },
    nowMs,
  };
  const explained = explainRequest(input, { ...whole, host: whole.host === "" ? "localhost" : whole.host });
  if (explained.kind === "load") return { places: [], ids: [], problem: problemOf(explained.error) };
  const { kind: _, byCanary: __, ...shown } = explained;
  return shown;
};

export { checkTable, InvalidTable, loadTable, testExamples };
