import { expect, it } from "vitest";
import { eventLine, workerdLine } from "../../../src/host/log-lines.ts";

const AT_MS = Date.UTC(2026, 10, 28, 5, 50);
const TIME = '"time":"2026-11-28T05:50:00.000Z"';
const RUNTIME = 'workerd/server/server/cluster.rs:730: warning: "refused"';

it.each<readonly [what: string, line: string, process: number | undefined, printed: string]>([
  ["the Worker's, as it is", '{"event":"request"}', undefined, '{"event":"request"}'],
  ["the Worker's of a process", '{"event":"request"}', 2, '{"process":2,"event":"request"}'],
  ["the runtime's", RUNTIME, undefined, `{"event":"workerd",${TIME},"text":${JSON.stringify(RUNTIME)}}`],
  [
    "the runtime's of a process",
    RUNTIME,
    2,
    `{"process":2,"event":"workerd",${TIME},"text":${JSON.stringify(RUNTIME)}}`,
  ],
  ["an empty one", "", undefined, `{"event":"workerd",${TIME},"text":""}`],
])("a line of workerd: %s", (_, line, process, printed) => {
  expect(workerdLine(line, AT_MS, process)).toBe(printed);
});

it("an event has its time after its name", () => {
  expect(eventLine({ event: "mirror-deleted", keys: 3 }, AT_MS)).toBe(`{"event":"mirror-deleted",${TIME},"keys":3}`);
});
