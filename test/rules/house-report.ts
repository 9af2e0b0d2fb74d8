import { passedBy, WARM } from "./coverage.ts";
import { EXCEPTIONS } from "./functions/exceptions.ts";
import { FUNCTION_MAX, functionFaults, functionSizes, type Measure, spreadLiterals } from "./functions/sizes.ts";
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

const files = projectFiles();
const note = (name: string, value: number): void =>
  console.log(`      ${name.padEnd(54)} ${String(value).padStart(7)}`);
const show = (name: string, value: number, most: number): void =>
  console.log(`${value <= most ? "ok  " : "over"}  ${name.padEnd(54)} ${String(value).padStart(7)}  at most ${most}`);

const sources = files.filter(({ path }) => /^(?:src|routes)\/.*\.ts$/.test(path) && !path.includes("/data/"));
show("files in a folder", Math.max(...filesPerFolder(files).values()), 16);
show("lines of a file", Math.max(...sources.map(linesOf)), 400);
show("words of the README", words(files, /^README\.md$/), README_WORDS_MAX);
show("lines with private words", privateWords(files).length, 0);
show("comments without their subject first", subjectlessComments(files).length, 0);
const { modules, firstBytes, allBytes } = await moduleSizes();
show("bytes of a start, gzip", firstBytes, FIRST_BYTES_MAX);
console.log(`      of all ${modules.length} modules: ${allBytes}`);
const sizes = functionSizes(files);
for (const measure of Object.keys(FUNCTION_MAX) as Measure[]) {
  const over = sizes.filter(
    ({ key, size }) => size[measure] > FUNCTION_MAX[measure] && !Object.hasOwn(EXCEPTIONS, key),
  );
  show(`functions of more than ${FUNCTION_MAX[measure]} ${measure}, not listed`, over.length, 0);
}
show("functions over a bound, listed with a reason", Object.keys(EXCEPTIONS).length, Object.keys(EXCEPTIONS).length);
show("literals spread into a literal", spreadLiterals(files).length, 0);
const passed = await passedBy(WARM.map(({ request }) => request));
for (const [at, { name, files: filesOf, functions: functionsOf }] of WARM.entries()) {
  const { files: passedFiles = [], functions = [] } = passed[at] ?? {};
  show(`files of one warm ${name}`, passedFiles.length, filesOf.goal);
  if (functionsOf === undefined) note(`functions of one warm ${name}`, functions.length);
  else show(`functions of one warm ${name}`, functions.length, functionsOf.goal);
  if (process.argv.includes("--list")) for (const each of functions) console.log(`        ${each}`);
}
for (const fault of [
  ...longFiles(files),
  ...fullFolders(files),
  ...loneFiles(files),
  ...privateWords(files),
  ...functionFaults(files),
  ...spreadLiterals(files),
]) {
  console.log(`      ${fault}`);
}
