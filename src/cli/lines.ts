import { err, ok, type Result } from "../ids/index.ts";

/** A longer line is no list of IDs, and would fill the memory. In UTF-16 units. */
const LINE_LENGTH_MAX = 65_536;

/** The lines of a stream as they come, without their ends (LF or CRLF). An overlong one ends them with its number. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Result<string, number>> {
  const decoder = new TextDecoder();
  let rest = "";
  let count = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      count += 1;
      if (line.length > LINE_LENGTH_MAX) return yield err(count);
      yield ok(line.replace(/\r$/, ""));
    }
    if (rest.length > LINE_LENGTH_MAX) return yield err(count + 1);
  }
  const last = rest + decoder.decode();
  if (last !== "") yield ok(last);
}

/** All of a stream, up to `bytesMax` bytes; `undefined` when there are more. */
export async function bytesOf(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) return undefined;
    parts.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
