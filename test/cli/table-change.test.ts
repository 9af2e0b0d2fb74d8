import { expect, test } from "vitest";
import { isWanted } from "../../src/cli/table-change.ts";
import type { World } from "../../src/cli/world.ts";

/** What a person answers to the question, and what is reported then. */
const asked = async (answer: string | undefined, yes = false) => {
  const reports: string[] = [];
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const world = { ask, report: (text: string) => reports.push(text) } as unknown as World;
  return { wanted: await isWanted("Publish it?", yes, world), reports: reports.join(""), questions };
};

test.each(["y", "Y", "yes", " yes "])("%j is a yes", async (answer) => {
  expect(await asked(answer)).toEqual({ wanted: true, reports: "", questions: ["Publish it? [y/N] "] });
});

test.each(["", "n", "no", "yeah", "yy", "publish it"])("%j is none", async (answer) => {
  expect(await asked(answer)).toMatchObject({ wanted: false, reports: "nothing was changed\n" });
});

test("where nobody is, nothing is wanted; who said yes before is not asked", async () => {
  expect(await asked(undefined)).toMatchObject({ wanted: false, reports: expect.stringContaining("say --yes") });
  expect(await asked("n", true)).toEqual({ wanted: true, reports: "", questions: [] });
});
