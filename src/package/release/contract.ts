import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Version numbers, held against the contract: its snapshots, as digests of the last release and of now. Nothing is asked of git, so
 * that a shallow clone or an archive gets the same answer.
 */

export type Bump = "patch" | "minor" | "major";

const BUMPS: readonly Bump[] = ["patch", "minor", "major"];

/** The last release, in `test/contract/released.json`. `npm run release` writes it. */
export interface Released {
  readonly version: string;
  /** SHA-256 of each snapshot by its name, in lower-case hex. */
  readonly snapshots: Readonly<Record<string, string>>;
}

export interface Changeset {
  readonly name: string;
  readonly text: string;
}

/** Snapshots of prose: a new wording alone is a patch. */
const PROSE: ReadonlySet<string> = new Set(["cli-help.txt"]);

const FORM = /^---\n["']waybill["']: (patch|minor|major)\n---\n\s*\S/;

export const WHEN_UPGRADING = /^When upgrading: \S/m;

const inContract = (root: string, path: string): string => join(root, "test/contract", path);

export const readReleased = (root: string): Released =>
  JSON.parse(readFileSync(inContract(root, "released.json"), "utf8"));

export const releasedFile = (root: string): string => inContract(root, "released.json");

export function snapshotsIn(root: string): Released["snapshots"] {
  const folder = inContract(root, "snapshots");
  const digestOf = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, digestOf(name)]),
  );
}

export function changesetsIn(root: string): readonly Changeset[] {
  const folder = join(root, ".changeset");
  const names = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
  return names.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n") }));
}

const bumpOf = ({ text }: Changeset): Bump | undefined => FORM.exec(text)?.[1] as Bump | undefined;

/** The largest bump of changesets; none without any. */
const largest = (changesets: readonly Changeset[]): Bump | undefined =>
  BUMPS.findLast((bump) => changesets.some((changeset) => bumpOf(changeset) === bump));

export function versionAfter(version: string, bump: Bump): string {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (bump === "major") return `${major + 1}.0.0`;
  return bump === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

export interface State {
  readonly released: Released;
  readonly snapshots: Released["snapshots"];
  readonly changesets: readonly Changeset[];
  /** The one in package.json. */
  readonly version: string;
  readonly changelog: string;
}

/** Sentences on a version that does not say what has changed. */
export function versionFaults({ released, snapshots, changesets, version, changelog }: State): readonly string[] {
  const bump = largest(changesets);
  const names = [...new Set([...Object.keys(released.snapshots), ...Object.keys(snapshots)])].toSorted();
  const changed = names.filter((name) => released.snapshots[name] !== snapshots[name]);
  const undeclared = changed.flatMap((name) => {
    const needed = PROSE.has(name) ? "patch" : "minor";
    if (bump !== undefined && BUMPS.indexOf(bump) >= BUMPS.indexOf(needed)) return [];
    return [
      `snapshots/${name} is not that of ${released.version}: add a changeset, at least "${needed}" (.changeset/README.md)`,
    ];
  });
  const next = bump === undefined ? [] : [versionAfter(released.version, bump)];
  const may = [released.version, ...next];
  return [
    ...changesets.flatMap(changesetFaults),
    ...undeclared,
    ...(may.includes(version) ? [] : [`package.json has version ${version}; its changesets allow ${may.join(" or ")}`]),
    ...(changelog.includes(`\n## ${released.version}\n`) ? [] : [`CHANGELOG.md has no section ${released.version}`]),
  ];
}

function changesetFaults(changeset: Changeset): readonly string[] {
  const bump = bumpOf(changeset);
  if (bump === undefined) return [`.changeset/${changeset.name} has not the form of .changeset/README.md`];
  if (bump !== "major" || WHEN_UPGRADING.test(changeset.text)) return [];
  return [`.changeset/${changeset.name} is major: add a paragraph that begins with "When upgrading: "`];
}
