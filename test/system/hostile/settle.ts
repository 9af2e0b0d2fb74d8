/** Looks again and again until something holds, or throws with what was seen last. */
export async function settles<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  holds: (seen: Seen) => boolean,
  deadlineMs: number,
): Promise<Seen> {
  const untilMs = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > untilMs) throw new Error(`${what} after ${deadlineMs} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
