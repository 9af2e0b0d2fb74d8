import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../../src/edge/metrics/catalogue.ts";
import { HELP } from "../../../src/edge/metrics/snapshot.ts";

/** docs/operate/observe.md says what the code does: every metric, every member of a request's line, every event. */

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const PAGE = read("docs/operate/observe.md");
const ALERTS = read("src/package/templates/monitoring/monitoring/alerts.yml");
/** The gateway's own source, in which each feature writes its events in its folder; and the lines of `serve` itself. */
const SOURCES = globSync(["src/{edge,features,formats,ports}/**/*.ts", "src/host/{log-lines,machines/serve}.ts"], {
  cwd: new URL("../../..", import.meta.url),
})
  .map((path) => read(path))
  .join("");

/** The rows of the table under a heading row, as cells. */
function rowsUnder(heading: string): string[][] {
  const lines = PAGE.split("\n");
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`the page has no table ${heading}`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

const codes = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("the page on operating", () => {
  it("has the table of metrics that the code has", () => {
    const rows = rowsUnder("| metric | type | labels | what |");
    expect(rows.map(([name = "", type, labels = "", help]) => [...codes(name), type, codes(labels), help])).toEqual(
      Object.entries(METRICS).map(([name, { type, labels }]) => [
        name,
        type,
        [...labels],
        HELP[name as keyof typeof METRICS],
      ]),
    );
  });

  it("names no metric that there is not", () => {
    const known = new Set(
      Object.entries(METRICS).flatMap(([name, { type }]) =>
        (type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]).map((suffix) => `waybill_${name}${suffix}`),
      ),
    );
    const named = [...(PAGE + ALERTS).matchAll(/\bwaybill_[a-z_]*[a-z]/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it("lists the members of a request's line", () => {
    const declared = [
      ...SOURCES.matchAll(/^( *)(?:export )?interface (?:AnswerOutcome|RequestLine)\b[^{]*\{(.*?)^\1\}/gms),
    ];
    const all = [
      ...declared
        .map(([, , body]) => body)
        .join("")
        .matchAll(/^ {2,4}readonly (\w+)\??:/gm),
    ].map(([, name = ""]) => name);
    // The metrics read these; the line leaves them out.
    const members = all.filter((name) => !["isElsewhere", "isOwn", "asked", "rule"].includes(name));
    const listed = rowsUnder("| member | what |").flatMap(([names = ""]) => codes(names));
    // The time of the line is written as text.
    expect(listed.sort()).toEqual(["event", "time", ...members.filter((name) => name !== "atMs")].sort());
  });

  it("lists every event", () => {
    const written = [...SOURCES.matchAll(/(?:event: |writeEvent\(\s*)["`]([a-z-]+)(\$\{state\})?/g)].flatMap(
      ([, name = "", state]) => (state === undefined ? [name] : [`${name}open`, `${name}closed`]),
    );
    const listed = rowsUnder("| event | when |").flatMap(([names = ""]) => codes(names));
    expect([...listed, "request"].sort()).toEqual([...new Set(written)].sort());
  });
});
