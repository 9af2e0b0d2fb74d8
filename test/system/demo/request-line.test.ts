import { expect, it } from "vitest";
import { formatLogLine, type Paint } from "../../../src/host/project/lines.ts";

const plain: Paint = (_, text) => text;

const logged = (line: object) => JSON.stringify({ event: "request", time: "2026-11-21T12:00:00.000Z", ...line });

it("a request is one line with all columns in place", () => {
  const lines = [
    logged({ method: "GET", path: "/any/1", layout: "iuid", region: "eu", status: 200, ms: 3 }),
    logged({ method: "OPTIONS", path: "/nowhere", status: 404, ms: 12 }),
  ].map((line) => formatLogLine(line, plain));
  expect(lines[0]?.split(/ +/)).toEqual(["GET", "/any/1", "iuid", "eu", "200", "3", "ms"]);
  expect(lines[1]?.split(/ +/)).toEqual(["OPTIONS", "/nowhere", "-", "-", "404", "12", "ms"]);
  expect(lines[0]?.length).toBe(lines[1]?.length);
});

it("a path cannot bring colours or line ends of its own into the terminal", () => {
  const line = logged({ method: "GET", path: "/\u001b[31m\n", status: 404, ms: 1 });
  expect(formatLogLine(line, plain)).not.toMatch(/\p{Cc}/u);
});

it("a status is painted by its class", () => {
  const styles: string[] = [];
  for (const status of [200, 307, 404, 503]) {
    formatLogLine(logged({ method: "GET", path: "/", status, ms: 1 }), (style, text) => {
      if (text === String(status)) styles.push(style);
      return text;
    });
  }
  expect(styles).toEqual(["green", "green", "yellow", "red"]);
});

it.each(["", "plain words", "{", '{"event":"table-load-failed"}', "{}"])("another line stays as it is: %s", (line) => {
  expect(formatLogLine(line, plain)).toBe(line);
});
