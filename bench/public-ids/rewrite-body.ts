import { performance } from "node:perf_hooks";
import { FieldRewriter } from "../../src/features/public-ids/serve/fields.ts";
import { compileFieldPaths } from "../../src/features/public-ids/table/field-paths.ts";
import { formatUuid, parseUuid } from "../../src/ids/index.ts";
import { sealId, sealRing } from "../../src/ids/public/index.ts";
import { needed } from "../lib/random.ts";
import type { Section } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";

/** Streams a generated JSON body of 50 MB with 100,000 IDs through the rewriter. */

const IDS = 100_000;
const BODY_BYTES_MIN = 50e6;
const ROWS_PER_CHUNK = 100;
const NOTE = "n".repeat(360);

/** Approximate size of a row. */
const ROW_BYTES = 520;

const encoder = new TextEncoder();

interface Streamed {
  readonly ms: number;
  readonly bytes: number;
  readonly replaced: number;
  readonly bufferedMax: number;
  /** Growth of the process: its peak size minus that at the start. */
  readonly grownBytes: number;
}

export function publicBody(rounds: number, progress: (line: string) => void): Section {
  const rows = ["/orders/*/id", "/**/id", "/none"].map((path) => {
    const runs = Array.from({ length: rounds }, (_, round) => {
      progress(`Public IDs: body of 50 MB, ${path}: round ${round + 1} of ${rounds}`);
      return stream(path);
    });
    const max = (figure: (run: Streamed) => number): number => Math.max(...runs.map(figure));
    for (const { bytes, replaced } of runs) {
      if (bytes < BODY_BYTES_MIN || replaced !== (path === "/none" ? 0 : IDS))
        throw new Error("the body was not rewritten");
    }
    return [
      path,
      `${max(({ replaced }) => replaced)}`,
      spread(runs.map(({ bytes, ms }) => bytes / 1e3 / ms)),
      max(({ bufferedMax }) => bufferedMax),
      max(({ grownBytes }) => grownBytes) / 1e6,
    ];
  });
  return {
    title: "Public IDs: a JSON body of 50 MB",
    note: "UUIDs replaced by sealed IDs, in one thread. Growth is that of the whole process, with garbage.",
    columns: ["field", "IDs replaced", "MB/s", "buffered bytes, max", "MB grown, max"],
    rows,
  };
}

function stream(path: string): Streamed {
  const paths = needed(compileFieldPaths([{ path, entity: "order" }]));
  const ring = needed(sealRing([{ id: "key", key: new Uint8Array(32).fill(1) }], "order"));
  let replaced = 0;
  let bytes = 0;
  let bufferedMax = 0;
  let ms = 0;
  const rssStart = process.memoryUsage.rss();
  let rssMax = rssStart;
  const rewriter = new FieldRewriter({
    paths,
    framing: "document",
    toPublic: (_, text) => {
      const words = parseUuid(text);
      if (words.ok) replaced++;
      return words.ok ? needed(sealId(ring, words.value)) : undefined;
    },
  });
  for (const chunk of body()) {
    const startedMs = performance.now();
    needed(rewriter.push(chunk));
    ms += performance.now() - startedMs;
    bytes += chunk.length;
    bufferedMax = Math.max(bufferedMax, rewriter.bufferedBytes());
    rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }
  needed(rewriter.end());
  return { ms, bytes, replaced, bufferedMax, grownBytes: rssMax - rssStart };
}

/** Chunks end anywhere in a row, even inside an ID. */
function* body(): Generator<Uint8Array> {
  let rest = '{"orders":[';
  for (let from = 0; from < IDS; from += ROWS_PER_CHUNK) {
    let text = rest;
    for (let row = from; row < from + ROWS_PER_CHUNK; row++) text += `${row === 0 ? "" : ","}${order(row)}`;
    const cut = text.length - ((from * 7919) % ROW_BYTES);
    rest = text.slice(cut);
    yield encoder.encode(text.slice(0, cut));
  }
  yield encoder.encode(`${rest}]}`);
}

const order = (row: number): string =>
  JSON.stringify({
    id: formatUuid([0x0192f0c1, 0x7a308005, 0x80408f3b, row]),
    status: "open",
    lines: [
      { sku: "abc", count: 3, price: 12.5 },
      { sku: "def", count: 1, price: 99 },
    ],
    note: NOTE,
    paid: true,
  });
