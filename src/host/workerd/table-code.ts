import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { BuiltConstants } from "../../formats/built-table.ts";
import { type DeclaredTable, loadTableText, parseTableText, storeTable } from "../../routing/index.ts";

/** Every isolate holds the form of the table of the build, whatever is published: a larger one is compiled where it is needed. */
const FORM_BYTES_MAX = 1024 * 1024;

const PARTS = ["load", "compile/store", "compile/restore"].map((name) =>
  fileURLToPath(new URL(`../../routing/${name}.ts`, import.meta.url)),
);

let version: Promise<string> | undefined;

/**
 * The version of the code that checks, compiles, stores and restores tables: a digest of all of it, packages included. It changes
 * with every change, so that no version compiles what another has checked.
 */
export function tableCodeVersion(): Promise<string> {
  version ??= digestOfCode();
  return version;
}

async function digestOfCode(): Promise<string> {
  const bundle = await rolldown({
    input: PARTS,
    platform: "browser",
    tsconfig: false,
    resolve: { conditionNames: ["workerd", "worker", "browser", "import"] },
    transform: { target: "es2024" },
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({ format: "esm", minify: true, comments: false });
    const code = output.flatMap((each) => (each.type === "chunk" ? [each.code] : []));
    const hash = createHash("sha256");
    for (const text of code.toSorted()) hash.update(text);
    return hash.digest("hex").slice(0, 16);
  } finally {
    await bundle.close();
  }
}

/** The constant `BUILT_TABLE` of the Worker (src/worker.ts), as JSON. */
export async function builtConstants(tableText: string): Promise<string> {
  const constants: BuiltConstants = { version: await tableCodeVersion(), ...tableIn(tableText) };
  return JSON.stringify(constants);
}

function tableIn(tableText: string): Pick<BuiltConstants, "table"> {
  const declared = parseTableText(tableText);
  if (!declared.ok || !loadTableText(tableText, 0).ok) return {};
  const { text, numbers } = storeTable(declared.value as DeclaredTable);
  const form = { text, numbers: Buffer.from(numbers).toString("base64") };
  const isSmall = text.length + form.numbers.length <= FORM_BYTES_MAX;
  return { table: { digest: createHash("sha256").update(tableText, "utf8").digest("hex"), ...(isSmall && { form }) } };
}
