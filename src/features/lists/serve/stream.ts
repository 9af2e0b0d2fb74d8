import type { Load } from "../../many/serve/shares.ts";

/** A body of texts, each made when the client has taken the one before. A client that takes nothing for `idleMs` is cut off. */
export function streamTexts(
  load: Load,
  idleMs: number,
  next: () => Promise<{ readonly text: string; readonly isEnd: boolean }>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let idle: ReturnType<typeof setTimeout> | undefined;
  const stop = (controller?: ReadableStreamDefaultController<Uint8Array>, error?: unknown): void => {
    clearTimeout(idle ?? null);
    load.end();
    controller?.error(error);
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    clearTimeout(idle ?? null);
    const made = await next().catch((error: unknown) => stop(controller, error));
    if (made === undefined) return;
    controller.enqueue(encoder.encode(made.text));
    // A stream that waits for its client takes memory from others.
    if (idleMs > 0) idle = setTimeout(stop, idleMs, controller, new Error("the client takes nothing"));
    if (!made.isEnd) return;
    stop();
    controller.close();
  };
  return new ReadableStream<Uint8Array>({ pull, cancel: () => stop() }, { highWaterMark: 0 });
}
