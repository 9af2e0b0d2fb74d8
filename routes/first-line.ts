import { err, ok, type Result } from "../src/ids/result.ts";
import type { RequestError } from "../src/problems/index.ts";

/** The first line of a body, and what comes behind it, as it comes. */
interface Parted {
  readonly line: string;
  readonly rest: ReadableStream<Uint8Array>;
}

const LINE_FEED = 10;

/** Reads a body up to its first line feed, and no further than a cap. A line that is all of the body needs no end. */
export async function firstLine(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
): Promise<Result<Parted, RequestError>> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let line = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value: chunk } = await reader.read();
      const end = chunk?.indexOf(LINE_FEED) ?? -1;
      const own = end === -1 ? chunk : chunk?.subarray(0, end);
      bytes += own?.length ?? 0;
      if (bytes > bytesMax) {
        await reader.cancel();
        return err({ reason: "body-too-large", bytesMax });
      }
      line += decoder.decode(own, { stream: !done && end === -1 });
      if (done || end !== -1) return ok({ line, rest: behind(chunk?.subarray(end + 1), reader) });
    }
  } catch {
    return err({ reason: "malformed-request", detail: "The body breaks off, or it is not UTF-8." });
  }
}

function behind(
  first: Uint8Array | undefined,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (first !== undefined && first.length > 0) controller.enqueue(first);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
