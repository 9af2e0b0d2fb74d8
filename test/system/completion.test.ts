import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, type TestContext } from "vitest";
import { tableFolder } from "./command.ts";

/** The scripts in real shells. Where zsh or fish is missing, their tests are skipped. */

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** A folder with a table, a folder `sub`, and the command on the PATH. */
const setUp = () => {
  const cwd = tableFolder();
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(bin, "waybill"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(bin, "waybill"), 0o755);
  const env = { HOME: cwd, TERM: "dumb", PATH: `${bin}:${process.env["PATH"]}` };
  return (shell: string, ...args: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync(shell, args, { cwd, env, encoding: "utf8" });
    return { stdout, stderr, status };
  };
};

const skipWithout = (shell: string, { skip }: TestContext): void => {
  if (spawnSync(shell, ["-c", "true"]).status !== 0) skip(`${shell} is not installed`);
};

it("completes in bash, which cuts words at = and :", () => {
  const run = setUp();
  const script = `
    eval "$(waybill completion bash)"
    try() { COMP_WORDS=(waybill "$@"); COMP_CWORD=$#; _waybill; echo "\${COMPREPLY[*]}"; }
    try table che
    try token new --scope = v
    try token new --scope =
    try table check rout
    try build --out = s
    try move start --to ""
    complete -p waybill`;
  expect(run("bash", "-c", script)).toEqual({
    stdout:
      "check\nviewer\nsupport viewer operator mint directory\nrouting-table.json\nsub\neu us ap\ncomplete -F _waybill waybill\n",
    stderr: "",
    status: 0,
  });
});

it("completes in fish, with descriptions", (context) => {
  skipWithout("fish", context);
  const run = setUp();
  const lines = ["table che", "token new --scope=v", "table check rou", "build --out=s", "move start --to e"];
  const script = ["waybill completion fish | source", ...lines.map((line) => `complete -C "waybill ${line}"`)];
  const { stdout } = run("fish", "-c", script.join("; "));
  expect(stdout.replace(/^check\tcheck a .*$/m, "check")).toBe(
    "check\n--scope=viewer\nrouting-table.json\n--out=sub/\neu\n",
  );
});

it("completes in zsh at its prompt", (context) => {
  skipWithout("zsh", context);
  const run = setUp();
  // Each line is typed into a zsh of its own terminal; the tab is answered when the rest of the word is there.
  const typed = [
    ["table che", "check "],
    ["token new --scope=v", "--scope=viewer "],
    ["table check rou", "routing-table.json "],
    ["build --out=s", "--out=sub/"],
  ];
  const script = `
    zmodload zsh/zpty
    zpty z "TERM=dumb PS1= zsh -f -i"
    zpty -w z 'autoload -Uz compinit; compinit -D; eval "$(waybill completion zsh)"; bindkey "^I" complete-word; echo rea""dy'
    zpty -m -r z out '*ready*'
    ${typed.map(([line, rest]) => `zpty -w -n z $'waybill ${line}\\t'; zpty -m -r z out '*${rest}*' && echo '${line}'; zpty -w -n z $'\\C-u'`).join("\n    ")}
    zpty -d z`;
  expect(run("zsh", "-f", "-c", script).stdout).toBe(typed.map(([line]) => `${line}\n`).join(""));
}, 120_000);
