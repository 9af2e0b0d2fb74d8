import { join } from "node:path";
import { escapeControls, linesText } from "../../lib/output.ts";
import { fail, type Runtime, Stop } from "../../runtime.ts";

/** The folder that a project is written to. */

/** Files of a fresh repository, and those that systems and editors leave in a folder. */
const HARMLESS =
  /^(?:\.git|\.gitattributes|\.gitignore|\.hg|\.hgignore|\.editorconfig|\.idea|\.vscode|\.DS_Store|Thumbs\.db|desktop\.ini|(?:LICEN[CS]E|README|CODEOWNERS)(?:\.(?:md|txt))?)$/i;

const LISTED_MAX = 10;

/** Ends the command if the folder has files that are not harmless. */
export function refuseFiles(folder: string, runtime: Pick<Runtime, "fileExists" | "readFolder">): void {
  if (!runtime.fileExists(folder)) return;
  const shown = escapeControls(folder);
  const names = runtime.readFolder(folder);
  if (!names.ok) throw new Stop(`error: ${shown} cannot be used: ${escapeControls(names.error)}\n`);
  const files = names.value.filter((name) => !HARMLESS.test(name));
  if (files.length === 0) return;
  const rest = files.length > LISTED_MAX ? `, and ${files.length - LISTED_MAX} more` : "";
  const listed = files.slice(0, LISTED_MAX).map(escapeControls).join(", ");
  fail(`error: ${shown} has files: ${listed}${rest}; name a new folder\n`);
}

/** Gives the files that were there, and got lines at their end. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>, runtime: Runtime): readonly string[] {
  const extended: string[] = [];
  for (const [file, text] of files) {
    const path = join(folder, file);
    const before = runtime.fileExists(path) ? runtime.readFile(path) : undefined;
    if (before?.ok) extended.push(file);
    const all = before?.ok ? joined(file, before.value, text) : text;
    const written = runtime.writeFile(path, all);
    if (!written.ok) fail(`error: ${escapeControls(`${path} cannot be written: ${written.error}`)}\n`);
  }
  return extended;
}

/** A fresh repository's own file comes first, byte by byte. */
function joined(file: string, before: Uint8Array, text: string): Uint8Array {
  const lines = new TextDecoder().decode(before).split("\n");
  const has = new Set(lines.map((line) => line.trim()));
  const lineEnd = lines.at(-1) === "" ? "" : "\n";
  const added =
    file === ".gitignore" ? linesText(text.split("\n").filter((line) => line !== "" && !has.has(line))) : `\n${text}`;
  return Buffer.concat([before, Buffer.from(lineEnd + added)]);
}
