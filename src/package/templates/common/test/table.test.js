import assert from "node:assert/strict";
import { test } from "node:test";
import { testExamples } from "waybill/table";

// Each request of examples.json is a test: the table must send it where the example says.
for (const { name, differences } of await testExamples()) {
  test(name, () => assert.deepEqual(differences, []));
}
