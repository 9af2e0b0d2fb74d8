import { expect, it } from "vitest";
import { inOrder } from "../../../src/console/app/api.ts";

it.each<readonly [answers: readonly number[], news: readonly number[]]>([
  [
    [1, 2, 3],
    [1, 2, 3],
  ],
  [
    [2, 1, 3],
    [2, 3],
  ],
  [[3, 2, 1], [3]],
  // The second question gets no answer.
  [
    [1, 3],
    [1, 3],
  ],
  // A page that asks for more after an answer may take it in two parts.
  [
    [2, 2, 1],
    [2, 2],
  ],
])("of questions whose answers come as %j, those of %j are taken", (answers, news) => {
  const ask = inOrder();
  const questions = [1, 2, 3].map(() => ask());
  expect(answers.filter((each) => questions[each - 1]?.())).toEqual(news);
});
