import type { Voucher } from "../../formats/voucher.ts";
import { type DeclaredTable, loadTableText, parseTableText, storeTable } from "../../routing/index.ts";
import { tableCodeVersion, workerModules } from "../parts.ts";
import { digestOf } from "../publish/publish.ts";
import { MAIN_MODULE, type ModuleFile, TEXT_MODULE } from "./modules.ts";

/** Every isolate holds the form of the table of the build, whatever is published: a larger one is compiled where it is needed. */
const FORM_BYTES_MAX = 1024 * 1024;

const TABLE = `routing-table${TEXT_MODULE}`;
const FORM = `routing-table-compiled${TEXT_MODULE}`;
const VOUCHER = "voucher.js";

/** Modules that the main module of a project may import: the gateway as a library, its objects, the table as JSON. */
export const FOR_PROJECTS = { worker: "./waybill.js", objects: "./objects.js", table: "./routing-table.js" };

const PARSED_TABLE = `import text from "./${TABLE}";
export default JSON.parse(text);
`;

/**
 * The voucher is for the table as it was built. A project may change it, also in place, so its text is compared; the gateway then gets
 * that text.
 */
const LIBRARY = `import { gateway as make } from "./index.js";
import text from "./${TABLE}";
import voucher from "./${VOUCHER}";
const escape = (unit) => "\\\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
const textOf = (table) => (typeof table === "string" ? table : JSON.stringify(table) ?? "").replace(/[^\\0-\\x7f]/g, escape);
export const gateway = (table) => (textOf(table) === text ? make(text, voucher) : make(table));
`;

const MAIN = `import { gateway } from "./index.js";
import table from "./${TABLE}";
import voucher from "./${VOUCHER}";
export * from "./objects.js";
export default gateway(table, voucher);
`;

/** This version's Worker with a table, the main module first. `mainCode`: of a project; it imports `FOR_PROJECTS`. */
export async function workerWith(tableText: string, mainCode?: string): Promise<readonly ModuleFile[]> {
  const [modules, version] = await Promise.all([workerModules(), tableCodeVersion()]);
  const own = tableModules(tableText, version);
  if (mainCode === undefined) return [...own, ...modules];
  return [
    { name: MAIN_MODULE, code: mainCode },
    moduleAt(FOR_PROJECTS.worker, LIBRARY),
    moduleAt(FOR_PROJECTS.table, PARSED_TABLE),
    ...own.slice(1),
    ...modules,
  ];
}

const moduleAt = (specifier: string, code: string): ModuleFile => ({ name: specifier.slice("./".length), code });

/**
 * A table for the Worker's modules: the main module first, the table as text, since most isolates never parse it, and the voucher.
 * `version`: of these modules' code for tables; `undefined`: nothing vouches for the table.
 */
export function tableModules(tableText: string, version: string | undefined): readonly ModuleFile[] {
  const form = version !== undefined && formOf(tableText);
  const modules = [
    { name: MAIN_MODULE, code: MAIN },
    { name: TABLE, code: asciiJson(JSON.stringify(JSON.parse(tableText))) },
    { name: VOUCHER, code: voucherOf(tableText, version, form) },
  ];
  return form ? [...modules, { name: FORM, code: form }] : modules;
}

type Form = string | undefined;

/** `false` for a table with faults, for which no build vouches; `undefined` for one that is too large. */
function formOf(tableText: string): Form | false {
  const declared = parseTableText(tableText);
  if (!declared.ok || !loadTableText(tableText, 0).ok) return false;
  const { text, numbers } = storeTable(declared.value as DeclaredTable);
  const form = `${Buffer.from(numbers).toString("base64")}\n${asciiJson(text)}`;
  return form.length <= FORM_BYTES_MAX ? form : undefined;
}

function voucherOf(tableText: string, version: string | undefined, form: Form | false): string {
  if (form === false || version === undefined) return "export default undefined;\n";
  const voucher: Voucher = { version, digest: digestOf(tableText) };
  const members = JSON.stringify(voucher).slice(1, -1);
  return form === undefined
    ? `export default { ${members} };\n`
    : `import form from "./${FORM}";\nexport default { ${members}, form };\n`;
}

/** The version of the code for tables of a build, whose voucher names it; `undefined` without one. */
export const codeVersionOf = (modules: readonly ModuleFile[]): string | undefined =>
  /"version":"([0-9a-z]{1,64})"/.exec(modules.find(({ name }) => name === VOUCHER)?.code ?? "")?.[1];

/** The same JSON in ASCII: a runtime transcodes any other text. */
const asciiJson = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
