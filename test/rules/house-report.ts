import { passedBy } from "./coverage.ts";
import {
  filesPerFolder,
  fullFolders,
  linesOf,
  loneFiles,
  longFiles,
  privateWords,
  projectFiles,
  README_WORDS_MAX,
  subjectlessComments,
  words,
} from "./house.ts";
import { FIRST_BYTES_MAX, moduleSizes } from "./module-sizes.ts";

/** `npm run house`: how large the house is, and what one warm request passes. `--list` names the functions. */

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

const files = projectFiles();
const show = (name: string, value: number, most: number): void =>
  console.log(`${value <= most ? "ok  " : "over"}  ${name.padEnd(44)} ${String(value).padStart(7)}  at most ${most}`);

const sources = files.filter(({ path }) => /^(?:src|routes)\/.*\.ts$/.test(path) && !path.includes("/data/"));
show("files in a folder", Math.max(...filesPerFolder(files).values()), 16);
show("lines of a file", Math.max(...sources.map(linesOf)), 400);
show("words of the README", words(files, /^README\.md$/), README_WORDS_MAX);
show("lines with private words", privateWords(files).length, 0);
show("comments without their subject first", subjectlessComments(files).length, 0);
const { modules, firstBytes, allBytes } = await moduleSizes();
show("bytes of a start, gzip", firstBytes, FIRST_BYTES_MAX);
console.log(`      of all ${modules.length} modules: ${allBytes}`);
for (const { path, files: passed, functions } of await passedBy([`/orders/${ID}`, `/any/${ID}`])) {
  const name = `of one warm GET ${path.replace(ID, "<iuid>")}`;
  show(`files ${name}`, passed.length, 25);
  show(`functions ${name}`, functions.length, 60);
  if (process.argv.includes("--list")) for (const each of functions) console.log(`        ${each}`);
}
for (const fault of [...longFiles(files), ...fullFolders(files), ...loneFiles(files), ...privateWords(files)]) {
  console.log(`      ${fault}`);
}
