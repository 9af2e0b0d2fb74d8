import { EXIT, type ExitCode, type World } from "./world.ts";

/** Says why nothing was done. */
export const refuse = (sentences: string, world: World): ExitCode => {
  world.report(sentences);
  return EXIT.failed;
};
