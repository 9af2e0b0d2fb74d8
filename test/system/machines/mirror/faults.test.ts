import { describe, expect, it } from "vitest";
import { makePack, Published } from "./published.ts";
import { type Fault, startStateNode } from "./state-node.ts";
import { begin, filesOf, revisionIn, scratch, until, untilRevision } from "./support.ts";

/** The mirror over real HTTPS, from a state node that fails in each way at each value. */

const { tls, newFolder, mirrorOf } = scratch();

const isBody = (key: string) => /^table\.[0-9a-f]{64}$/.test(key);
const isForm = (key: string) => /^table\.[0-9a-f]{64}\.[0-9a-f]+$/.test(key);
const isHeader = (key: string) => /^pack\.[0-9a-f]{64}$/.test(key);
const isPage = (key: string) => /^pack\.[0-9a-f]{64}\.1$/.test(key);
const isPointer = (key: string) => key === "pointer";

const ALL: readonly Fault[] = ["reset", "silent", "endless", "cut-off", "wrong", "empty", "failed", "redirect"];
const MORE: readonly Fault[] = ["too-long", "shorter", "missing", "missing-endless", "not-modified", "garbage"];
const CASES = [
  ...[isBody, isPage].flatMap((at) => [...ALL, ...MORE].map((fault) => ({ at, fault }))),
  ...ALL.map((fault) => ({ at: isHeader, fault })),
  ...ALL.filter((fault) => fault !== "wrong" && fault !== "silent").map((fault) => ({ at: isForm, fault })),
  ...[...ALL, ...MORE]
    .filter((fault) => fault !== "wrong" && fault !== "silent")
    .map((fault) => ({ at: isPointer, fault })),
];
const NAMES = new Map([
  [isBody, "a table"],
  [isPage, "a page"],
  [isHeader, "a header"],
  [isForm, "a form"],
  [isPointer, "the pointer"],
]);

describe("a state node that fails", () => {
  it.concurrent.for(CASES.map((each) => ({ ...each, what: NAMES.get(each.at) })))(
    "with $fault at $what leaves the table before, until it answers",
    async ({ at, fault }, context) => {
      const published = new Published();
      const first = await makePack({ ranges: 300, rangesPerPage: 100 });
      published.publish({ pack: first });
      const node = await begin(context, startStateNode(published, tls));
      const folder = newFolder();
      const mirror = await begin(context, mirrorOf([node], folder));
      await untilRevision(mirror, 1);
      const before = filesOf(folder);
      let faults = 0;
      node.fault = (key) => {
        if (!at(key)) return undefined;
        faults++;
        return fault;
      };
      const second = await makePack({ ranges: 300, rangesPerPage: 150, region: "second" });
      published.publish({ pack: second, region: "first" });
      await until(() => faults > 1, "two faults");
      expect(revisionIn(folder)).toBe(1);
      const now = filesOf(folder);
      for (const [name, contents] of Object.entries(before)) expect(now[name]).toBe(contents);
      node.fault = undefined;
      await untilRevision(mirror, 2);
      expect(revisionIn(folder)).toBe(2);
      const all = filesOf(folder);
      for (const [key, bytes] of published.values) expect(all[key], key).toBe(Buffer.from(bytes).toString("hex"));
      await until(() => mirror.status().lastError === undefined, "no error");
    },
  );
});
