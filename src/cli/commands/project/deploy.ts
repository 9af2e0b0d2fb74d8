import { command, option, withDefault } from "../../command.ts";
import { EXIT, type ExitCode, fail } from "../../runtime.ts";
import { checkSettings, isGood, reportFaults } from "../config-check.ts";
import { hosted } from "../host.ts";

/** Commands that bring a project to Cloudflare by the project's own wrangler. */

export const prepare = command({
  name: "prepare",
  description: "check the table and make what wrangler uploads: [build] in wrangler.toml runs it",
  args: [["[table]", "the routing table (default: the one that the Worker imports, or routing-table.json)"]],
  options: [
    withDefault("--out <folder>", "gets worker, for base_dir, and console, for [assets]", ".waybill"),
    option("--worker <file>", "the project's own Worker (default: src/worker.ts or .js, worker.ts or .js)"),
    option("--no-worker", "check the table and make the console alone: wrangler bundles the Worker"),
  ],
  help: `
A Worker of the project's own is one file. It imports "waybill/worker", "waybill/worker/objects" and the table, and nothing
else; types are stripped. Without a file it is the gateway with the table.

Examples:
  $ waybill prepare
  $ waybill prepare --worker src/edge.js --out build

Exit code: 0 if all is made, 1 if the table or the Worker has faults; then the folder stays as it was.`,
  run: async (runtime, [tableFile], { out, worker: workerFile }) => {
    const { prepareProject } = await import("../../../host/project/prepare.ts");
    const made = await hosted(() => prepareProject({ tableFile, workerFile, folder: out }));
    if (!made.ok) return fail(`${made.error}\nNothing was made.\n`);
    const parts =
      workerFile === false
        ? "the console"
        : `the gateway of waybill ${runtime.version}${made.value.workerFile === undefined ? "" : ` as ${made.value.workerFile} has it`}`;
    await runtime.print(`${out}: ${parts}, with ${made.value.tableFile}\n`);
    return EXIT.ok;
  },
});

export const deploy = command({
  name: "deploy",
  description: "check table and settings, upload packs, and run the project's `wrangler deploy`",
  args: [["[argument...]", "arguments of wrangler, such as --env eu or --dry-run"]],
  options: [
    option("--table <file>", "the routing table (default: the one that the Worker imports, or routing-table.json)"),
  ],
  passesOptions: true,
  help: `
Refused are tables that could not serve, such as those with origins on this machine; with --dry-run they are warned of.
--namespace-id names the KV namespace of the packs where wrangler does not know it. The project has wrangler and its
configuration; secrets are set with \`wrangler secret put NAME\`.

Examples:
  $ waybill deploy
  $ waybill deploy --env eu
  $ waybill deploy --dry-run

Exit code: that of wrangler; 1 if something is faulty before.`,
  run: async (runtime, args, { table }) => {
    const [{ deployProject, given }, { foundConfig }, { projectTable }] = await Promise.all([
      import("../../../host/deploy/deploy.ts"),
      import("../../../host/deploy/wrangler.ts"),
      import("../../../host/project/prepare.ts"),
    ]);
    const configFile = given(args, "--config", "-c") ?? foundConfig();
    if (configFile === undefined)
      return fail("There is no wrangler.toml here: run the command in the project's folder.\nNothing was deployed.\n");
    const tableFile = table ?? (await projectTable());
    const code = await hosted(() =>
      deployProject({
        args,
        tableFile,
        configFile,
        checkSettings: async (environment) => {
          const checked = await checkSettings(configFile, environment, runtime);
          if (!isGood(checked)) reportFaults(checked, configFile, runtime);
          return isGood(checked);
        },
      }),
    );
    return code as ExitCode;
  },
});
