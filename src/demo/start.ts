import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { startDemo } from "./demo.ts";
import { portFrom } from "./ports.ts";
import { type Paint, showLogLine } from "./request-line.ts";
import { screenText } from "./screen.ts";

/** `npm start`, and with `--reload` `npm run dev`. */

/** What the gateway keeps between runs, a folder for each port. */
const STATE_FOLDER = process.env["WAYBILL_STATE"] ?? fileURLToPath(new URL("../../.waybill", import.meta.url));

const hasColours = process.stdout.isTTY && !process.env["NO_COLOR"];
const paint: Paint = (style, text) => (hasColours ? styleText(style, text) : text);
const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { reload: { type: "boolean", default: false } } });
  // Heard from the first moment on: a signal during the start ends what has been started by then.
  const asked = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(0));
  });
  const shown = logBelowScreen();
  const demo = await startDemo({
    port: portFrom(process.env["PORT"]),
    stateFolder: STATE_FOLDER,
    reload: values.reload,
    onLogLine: shown.line,
  });
  print(screenText({ url: demo.url, origins: demo.origins, samples: demo.samples, paint }));
  shown.begin();
  process.exitCode = await Promise.race([asked, demo.exited.then(codeOfLostGateway)]);
  await demo.stop();
}

/** Keeps the lines that come before the screen, and prints the later ones as they come. */
function logBelowScreen() {
  const early: string[] = [];
  let isBegun = false;
  return {
    line: (line: string): void => {
      if (isBegun) print(showLogLine(line, paint));
      else early.push(line);
    },
    begin: (): void => {
      isBegun = true;
      for (const line of early) print(showLogLine(line, paint));
    },
  };
}

/** A terminal sends Ctrl-C to the whole group, and the gateway may be first to hear it; any other end is a failure. */
function codeOfLostGateway(code: number): number {
  if (code === 128 + constants.signals.SIGINT) return 0;
  process.stderr.write(`The gateway ended with code ${code}.\n`);
  return 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
