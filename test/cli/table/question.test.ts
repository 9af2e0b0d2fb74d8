import { expect, test } from "vitest";
import { confirm } from "../../../src/cli/client/change.ts";
import type { NoAnswer, Stop } from "../../../src/cli/runtime.ts";
import { err, ok, type Result } from "../../../src/ids/index.ts";

/** A person's answer to the question, and the report that follows. */
const asked = async (answer: Result<string, NoAnswer>, yes = false) => {
  const reports: string[] = [];
  const questions: string[] = [];
  const prompt = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const wanted = await confirm("Publish it?", yes, { prompt }).then(ok, (stop: Stop) => {
    reports.push(stop.message);
    return err(stop.code);
  });
  return { wanted, reports: reports.join(""), questions };
};

const YES = ok(undefined);

test.each(["y", "Y", "yes", " yes "])("%j is a yes", async (answer) => {
  expect(await asked(ok(answer))).toEqual({ wanted: YES, reports: "", questions: ["Publish it? [y/N] "] });
});

test.each(["", "n", "no", "yeah", "yy", "publish it"])("%j is none", async (answer) => {
  expect(await asked(ok(answer))).toMatchObject({ wanted: err(1), reports: "nothing was changed\n" });
});

test("without a terminal there is no consent; with --yes there is no question", async () => {
  expect(await asked(err("no-terminal"))).toMatchObject({
    wanted: err(64),
    reports: expect.stringContaining("pass --yes"),
  });
  expect(await asked(ok("n"), true)).toEqual({ wanted: YES, reports: "", questions: [] });
});

test.each([
  ["ended", 1],
  ["interrupted", 130],
] as const)("a question that was %s ends with %i, and with no advice about --yes", async (why, code) => {
  expect(await asked(err(why))).toMatchObject({ wanted: err(code), reports: "\nnothing was changed\n" });
});
