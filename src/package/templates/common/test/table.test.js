import assert from "node:assert/strict";
import { test } from "node:test";
import { testExamples } from "waybill/table";

// Each request of examples.json is a test: the table must send it where the example says.
const tested = await testExamples().catch(({ message }) => [
  { name: "the table and its examples can be read", differences: message.trim().split("\n") },
]);
for (const { name, differences } of tested) {
  test(name, () => assert.deepEqual(differences, []));
}
