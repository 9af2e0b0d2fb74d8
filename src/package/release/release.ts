import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../folders.ts";
import { changesetsIn, readReleased, releasedFile, snapshotsIn } from "./contract.ts";

/**
 * `npm run release [-- FOLDER]`: takes all changesets into CHANGELOG.md, sets the version that they ask for, and keeps the contract's
 * snapshots as those of this version. Publishes nothing.
 */
const root = process.argv[2] ?? ROOT;
const inRoot = (path: string): string => join(root, path);

const { version: before } = readReleased(root);
if (changesetsIn(root).length === 0) {
  process.stderr.write(`Nothing to release: .changeset has no changeset since ${before}.\n`);
  process.exit(1);
}
// The checkout may have the number of the next version already.
setVersion(before);
const changesets = join(ROOT, "node_modules/@changesets/cli/bin.js");
execFileSync(process.execPath, [changesets, "version"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
const version: string = JSON.parse(readFileSync(inRoot("package.json"), "utf8")).version;
setVersion(version);
const changelog = inRoot("CHANGELOG.md");
writeFileSync(changelog, upgradesFirst(readFileSync(changelog, "utf8"), version));
writeFileSync(releasedFile(root), `${JSON.stringify({ version, snapshots: snapshotsIn(root) }, null, 2)}\n`);
process.stdout.write(`${before} → ${version}. Read CHANGELOG.md, commit, tag v${version}, then npm run pack.\n`);

/** The first two of the lock are the project's own. */
function setVersion(to: string): void {
  const replace = (file: string, count: number): void => {
    let left = count;
    const text = readFileSync(inRoot(file), "utf8");
    const replaced = text.replace(/("version": )"[^"]+"/g, (found, key) => (left-- > 0 ? `${key}"${to}"` : found));
    writeFileSync(inRoot(file), replaced);
  };
  replace("package.json", 1);
  replace("package-lock.json", 2);
}

/** Moves the paragraphs on upgrading to the head of the version's section. */
function upgradesFirst(changelog: string, version: string): string {
  const head = `\n## ${version}\n`;
  const start = changelog.indexOf(head) + head.length;
  const next = changelog.indexOf("\n## ", start);
  const end = next === -1 ? changelog.length : next;
  const upgrades: string[] = [];
  const rest = changelog
    .slice(start, end)
    .replace(/\n+ {2}When upgrading: ([^\n]+(?:\n {2}\S[^\n]*)*)/g, (_, text: string) => {
      upgrades.push(`- ${text.charAt(0).toUpperCase()}${text.slice(1)}`);
      return "";
    });
  const section = upgrades.length === 0 ? "" : `\n### When upgrading\n\n${upgrades.join("\n")}\n`;
  return changelog.slice(0, start) + section + rest + changelog.slice(end);
}
