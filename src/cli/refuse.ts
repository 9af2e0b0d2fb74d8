import { EXIT, type ExitCode, type Runtime } from "./world.ts";

/** Says why nothing was done. */
export const fail = (sentences: string, runtime: Runtime): ExitCode => {
  runtime.report(sentences);
  return EXIT.failed;
};
