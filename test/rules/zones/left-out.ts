import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, relative } from "node:path";
import ts from "typescript";
import { ROOT } from "./zones.ts";

/** The product without a feature: a copy of its source, in which the feature's folder and its lines in the lists are gone. */

const FEATURES_FOLDER = "src/features";

/** Features of the build, by name of their folder. */
export const FEATURES: readonly string[] = readdirSync(join(ROOT, FEATURES_FOLDER), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const NEEDS: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(ROOT, FEATURES_FOLDER, "needs.json"), "utf8"),
);

/** A feature, and those that cannot be without it. */
export function goneWith(feature: string): readonly string[] {
  const gone = new Set([feature]);
  for (const one of gone) {
    for (const [other, needs] of Object.entries(NEEDS)) if (needs.includes(one)) gone.add(other);
  }
  return [...gone];
}

/** A copy of the product, in a folder of its own. To be removed by the caller. */
export function copyProduct(): string {
  const copy = mkdtempSync(join(tmpdir(), "waybill-without-"));
  for (const name of ["src", "routes", "routing-table.json", "tsconfig.base.json", "package.json"]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  // Each package alone: the cache of what was compiled is of one tree.
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== ".cache") symlinkSync(join(ROOT, "node_modules", name), join(copy, "node_modules", name));
  }
  return copy;
}

/** Takes features out of a copy, and gives what puts them back. A copy for each feature kept slow disks busy for minutes. */
export function leaveOut(copy: string, features: readonly string[]): () => void {
  const inCopy = (name: string): string => join(copy, FEATURES_FOLDER, name);
  const aside = mkdtempSync(join(copy, "aside-"));
  const lists = readdirSync(inCopy("."), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map(({ name }) => ({ path: inCopy(name), text: readFileSync(inCopy(name), "utf8") }));
  for (const feature of features) renameSync(inCopy(feature), join(aside, feature));
  for (const { path, text } of lists) writeFileSync(path, withoutLines(text, features));
  return () => {
    for (const feature of features) renameSync(join(aside, feature), inCopy(feature));
    for (const { path, text } of lists) writeFileSync(path, text);
  };
}

/** The text of a list without the lines of features. */
export function withoutLines(text: string, features: readonly string[]): string {
  const file = ts.createSourceFile("list.ts", text, ts.ScriptTarget.Latest, true);
  const isOfGone = (path: string): boolean => features.some((feature) => path.startsWith(`./${feature}/`));
  const gone = new Set<string>();
  const cuts: [from: number, to: number][] = [];
  for (const statement of file.statements) {
    const isLink = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const from =
      isLink && statement.moduleSpecifier !== undefined ? statement.moduleSpecifier.getText().slice(1, -1) : "";
    if (!isOfGone(from)) continue;
    cuts.push([statement.getFullStart(), statement.end]);
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (bindings !== undefined && ts.isNamedImports(bindings))
      for (const { name } of bindings.elements) gone.add(name.text);
  }
  const isGone = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && gone.has(node.text)) ||
    (ts.isStringLiteral(node) && isOfGone(node.text)) ||
    (ts.forEachChild(node, isGone) ?? false);
  /** A member of a list goes with the comma behind it, or with the bar before it. */
  const cut = (members: readonly ts.Node[], isUnion: boolean): void => {
    for (const member of members) {
      if (!isGone(member)) continue;
      const before = isUnion ? text.lastIndexOf("|", member.getStart()) : member.getFullStart();
      const comma = isUnion ? null : /^\s*,/.exec(text.slice(member.end));
      cuts.push([before, member.end + (comma?.[0].length ?? 0)]);
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node)) cut(node.elements, false);
    else if (ts.isObjectLiteralExpression(node)) cut(node.properties, false);
    else if (ts.isUnionTypeNode(node)) cut(node.types, true);
    else ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) if (!ts.isImportDeclaration(statement)) visit(statement);
  return cuts.toSorted(([a], [b]) => b - a).reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

/** Imports of the copy that lead to files which are not there. */
export function brokenImports(copy: string): readonly string[] {
  const broken: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const isCore = !/src\/(?:cli|console|export|demo|host|package)$/.test(path);
      if (entry.isDirectory() && isCore) visit(path);
      if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
      for (const [, specifier = ""] of readFileSync(path, "utf8").matchAll(
        /(?:from|import\(|import|module) ?"(\.[^"]+)"/g,
      )) {
        const target = normalize(join(dirname(path), specifier));
        if (!ts.sys.fileExists(target)) broken.push(`${relative(copy, path)} -> ${relative(copy, target)}`);
      }
    }
  };
  visit(join(copy, "src"));
  visit(join(copy, "routes"));
  return broken;
}
