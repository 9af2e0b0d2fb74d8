import { joinBytes } from "../routing/bytes.ts";

/**
 * Gzip as RFC 1952 §2.2 has it: a series of members. `DecompressionStream` takes one, and throws at the second. Where a
 * member ends, only a decoder knows: so the bytes before each possible header are tried.
 */

/** `deflate`: the format of zlib (RFC 9110 §8.4.1.2). */
type Format = "gzip" | "deflate";

/** A longer body is decoded as it comes, and has one member. */
export const WHOLE_BYTES_MAX = 256 * 1024;

/** Decoded bytes of all trials: a few coded bytes may hold a thousand times as many. */
const TRIED_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes in a body that look like a header and are none are rare: one in 16 MiB. */
const FAILED_TRIALS_MAX = 16;

/** Header, an empty block and trailer. */
const MEMBER_BYTES_MIN = 20;

type Bytes = Uint8Array<ArrayBuffer>;

/** A body that is not coded so to its last byte breaks the stream; a short one breaks before anything of it is given. */
export function decompress(coded: ReadableStream<Uint8Array>, format: Format): ReadableStream<Uint8Array> {
  const reader = coded.getReader();
  const decoded = decode(reader, format);
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await decoded.next().catch((error: unknown) => {
          void reader.cancel(error).catch(() => undefined);
          throw error;
        });
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => {
        await reader.cancel(reason);
        await decoded.return();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* decode(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  format: Format,
): AsyncGenerator<Uint8Array, void> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length <= WHOLE_BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) {
      for (const member of await membersOf(joinBytes(chunks) as Bytes, format))
        yield* inflate(streamOf([member]), format);
      return;
    }
    chunks.push(value);
    length += value.length;
  }
  yield* inflate(streamOf(chunks, reader), format);
}

/** Bytes that came, and those that still come. */
function streamOf(
  chunks: readonly Uint8Array[],
  rest?: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const left = chunks.values();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = left.next();
        const next = done === true ? await rest?.read() : { done: false, value };
        if (next?.value === undefined) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* inflate(member: ReadableStream<Uint8Array>, format: Format): AsyncGenerator<Uint8Array, void> {
  const reader = decompressed(member, format).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // A trial may end early.
    void reader.cancel().catch(() => undefined);
  }
}

async function membersOf(bytes: Bytes, format: Format): Promise<readonly Bytes[]> {
  const members: Bytes[] = [];
  const trial = { bytesLeft: TRIED_BYTES_MAX };
  let from = 0;
  let failed = 0;
  for (let at = format === "gzip" ? headerAt(bytes, MEMBER_BYTES_MIN) : -1; at !== -1; ) {
    if (failed === FAILED_TRIALS_MAX || trial.bytesLeft <= 0) break;
    if (await isMember(bytes.subarray(from, at), format, trial)) {
      members.push(bytes.subarray(from, at));
      from = at;
    } else failed++;
    at = headerAt(bytes, Math.max(at + 1, from + MEMBER_BYTES_MIN));
  }
  const last = bytes.subarray(from);
  const isWhole = await isMember(last, format, trial);
  if (!isWhole && trial.bytesLeft > 0) throw new TypeError(`the body is not ${format}`);
  return [...members, last];
}

/** RFC 1952 §2.3.1: two bytes of magic, and the one method there is. */
function headerAt(bytes: Bytes, from: number): number {
  let at = bytes.indexOf(0x1f, from);
  while (at !== -1 && (bytes[at + 1] !== 0x8b || bytes[at + 2] !== 8)) at = bytes.indexOf(0x1f, at + 1);
  return at;
}

/** Whether the bytes are one member with its sums. As far as the trials may go. */
async function isMember(bytes: Bytes, format: Format, trial: { bytesLeft: number }): Promise<boolean> {
  try {
    for await (const { length } of inflate(streamOf([bytes]), format)) {
      trial.bytesLeft -= length;
      if (trial.bytesLeft <= 0) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** A thousand times as many bytes may come of it, and are in memory at once. */
const PIECE_BYTES = 4 * 1024;
const READ_BYTES = 64 * 1024;

/**
 * The runtime's stream decodes all that it is given, whether it is read or not: a few bytes would fill the memory. So it gets
 * a piece when all of the piece before has been read.
 */
function decompressed(coded: ReadableStream<Uint8Array>, format: Format): ReadableStream<Uint8Array> {
  const { readable, writable } = new DecompressionStream(format);
  const source = coded.getReader();
  const writer = writable.getWriter();
  const reader = readable.getReader({ mode: "byob" });
  let input: Uint8Array = new Uint8Array();
  let isWhole = false;
  let mayHaveMore = false;
  const feed = async (): Promise<void> => {
    if (input.length === 0) {
      const { done, value } = await source.read();
      isWhole = done;
      if (value === undefined) return writer.close();
      input = value;
    }
    const piece = input.subarray(0, PIECE_BYTES);
    input = input.subarray(PIECE_BYTES);
    await writer.write(piece);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const asked = reader.read(new Uint8Array(READ_BYTES));
        let isGiven = false;
        const given = asked.then(
          () => (isGiven = true),
          () => (isGiven = true),
        );
        for (let turn: number | null = null; ; clearTimeout(turn)) {
          // Bytes that are there already are given in the next turn.
          if (mayHaveMore) await Promise.race([given, new Promise((resolve) => (turn = setTimeout(resolve, 0)))]);
          if (isGiven || isWhole) break;
          await feed().catch((error: unknown) => {
            void source.cancel(error).catch(() => undefined);
            throw error;
          });
          mayHaveMore = true;
        }
        const { done, value } = await asked;
        mayHaveMore = value?.length === READ_BYTES;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => {
        await Promise.allSettled([source.cancel(reason), writer.abort(reason), reader.cancel(reason)]);
      },
    },
    { highWaterMark: 0 },
  );
}
