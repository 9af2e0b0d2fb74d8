import { test } from "node:test";
import { testExamples } from "waybill/table";

// A failure is one of the table or of an example, so its lines of code say nothing.
Error.stackTraceLimit = 0;

// Each request of examples.json is a test: the table must send it where the example says.
const tested = await testExamples().catch(({ message }) => [
  { name: "the table and its examples can be read", differences: message.trim().split("\n") },
]);
for (const { name, differences } of tested) {
  test(name, () => {
    if (differences.length > 0) throw new Error(differences.join("\n"));
  });
}
