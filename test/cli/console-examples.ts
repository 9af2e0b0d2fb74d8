import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { waybill } from "./fake-runtime.ts";
import type { MemoryFiles } from "./memory-files.ts";

/** The `console` examples of a page, and the little of a shell that they need. */

export interface Example {
  readonly command: string;
  /** The text below it. */
  readonly output: string;
}

const ROOT = new URL("../../", import.meta.url);

/** A file of the project, by its path from the root. */
export const projectText = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");

/** Every command of a page's `console` blocks, in order, with the output that stands below it. */
export const examplesOf = (page: string): readonly Example[] =>
  [...projectText(page).matchAll(/^```console\n(.*?)^```$/gms)]
    .flatMap(([, block = ""]) => block.split(/^\$ /m).slice(1))
    .map((example) => {
      const [command = "", ...output] = example.split("\n");
      return { command, output: output.join("\n") };
    });

/** Output of a command on a terminal: both streams, as they come. `waybill` runs in this process, filters of its output in a shell. */
export const shownBy = async (command: string, files: MemoryFiles): Promise<string> => {
  let shown = "";
  let piped: string | undefined;
  const stages = stagesOf(command);
  for (const [at, stage] of stages.entries()) {
    const isLast = at === stages.length - 1;
    const { words, hidden } = redirected(wordsOf(stage));
    if (words[0] !== "waybill") {
      piped = execFileSync("sh", ["-c", stage], { cwd: ROOT, input: piped ?? "", encoding: "utf8" });
      continue;
    }
    const { stdout } = await waybill(words.slice(1), {
      files,
      stdin: piped ?? "",
      onWrite: (stream, text) => {
        if (!hidden.has(stream) && (isLast || stream === "stderr")) shown += text;
      },
    });
    piped = isLast || hidden.has("stdout") ? "" : stdout;
  }
  return shown + (piped ?? "");
};

/** The commands between the pipes; a pipe inside quotes is none. */
const stagesOf = (command: string): readonly string[] =>
  (command.match(/(?:'[^']*'|"[^"]*"|[^|'"])+/g) ?? []).map((stage) => stage.trim());

const wordsOf = (stage: string): readonly string[] =>
  (stage.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
  );

/** Output to `/dev/null` is shown nowhere. */
const redirected = (words: readonly string[]) => {
  const hidden = new Set<string>();
  const kept: string[] = [];
  for (const [at, word] of words.entries()) {
    if (word === ">" && words[at + 1] === "/dev/null") hidden.add("stdout");
    else if (word === "2>" && words[at + 1] === "/dev/null") hidden.add("stderr");
    else if (word !== "/dev/null") kept.push(word);
  }
  return { words: kept, hidden };
};
