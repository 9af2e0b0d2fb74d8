import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "./folders.ts";

/** The licences of what is bundled, as they ask it: with the copyright and the text. */

interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i;
const NOTICE_FILE = /^notice(?:\.(?:md|txt))?$/i;

/** Texts in the order of names, each package version once. `sources`: the files of which something is in the package. */
export function licencesOf(sources: readonly string[]): string {
  const folders = new Set(sources.flatMap((path) => packageFolder(path) ?? []));
  const fonts = new Set(sources.filter((path) => path.endsWith(".woff2")).map((path) => dirname(resolve(ROOT, path))));
  const bundled = [...[...folders].map(readPackage), ...[...fonts].map(readFont)];
  const parts = bundled
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(({ text, ...own }) => `${"-".repeat(80)}\n${keyOf(own)} (${own.license})\n\n${text.trim()}\n`);
  return [HEAD, ...parts].join("\n");
}

const keyOf = ({ name, version }: Pick<Bundled, "name" | "version">): string => `${name} ${version}`;

const HEAD = `This package contains code and fonts of the following packages, each under its own licence.
`;

/** The innermost package that a file belongs to; none for the project's own. */
function packageFolder(path: string): string | undefined {
  const [, folder] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(resolve(ROOT, path)) ?? [];
  return folder;
}

/** Subsets of the fonts of the console; their licence stands beside them (OFL 1.1 §2). */
const readFont = (folder: string): Bundled => ({
  name: "Geist",
  version: "fonts",
  license: "OFL-1.1",
  text: readFileSync(join(folder, "OFL.txt"), "utf8"),
});

function readPackage(folder: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder);
  const texts = [LICENCE_FILE, NOTICE_FILE].flatMap((pattern) => files.filter((file) => pattern.test(file)));
  if (texts.length === 0 || license === undefined)
    throw new Error(`${name} ${version} has no text of its licence: without one it must not be bundled`);
  return {
    name,
    version,
    license,
    text: texts.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n"),
  };
}
