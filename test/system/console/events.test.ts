import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { buildConsole } from "../../../src/host/console/build.ts";
import { type DemoStack, startDemoStack } from "../stack.ts";

let stack: DemoStack;
beforeAll(async () => {
  stack = await startDemoStack({ TABLE_REFRESH_SECONDS: "0.2", CONSOLE_HOST: "console.localhost" });
});
afterAll(() => stack.stop());

describe("live events of a running gateway", () => {
  const open = async (signal: AbortSignal) => fetch(`${stack.url}/-/events`, { signal });
  /** Pages that left make room one after the other, as the gateway notices them. */
  const openOnceThereIsRoom = (signal: AbortSignal) =>
    vi.waitFor(
      async () => {
        const answer = await open(signal);
        expect(answer.status).toBe(200);
        return answer;
      },
      { timeout: 10_000, interval: 250 },
    );

  it("make room when pages leave", async () => {
    const pages = new AbortController();
    const streams = await Promise.all(Array.from({ length: 24 }, () => open(pages.signal)));
    expect(streams.map(({ status }) => status)).toEqual(Array(24).fill(200));
    expect((await open(pages.signal)).status).toBe(503);
    pages.abort();
    const later = new AbortController();
    await openOnceThereIsRoom(later.signal);
    later.abort();
  });

  it("tell of a revision soon after it is published", async () => {
    const page = new AbortController();
    const body = (await openOnceThereIsRoom(page.signal)).body as ReadableStream<Uint8Array>;
    let text = "";
    void (async () => {
      for await (const chunk of body) text += new TextDecoder().decode(chunk);
    })().catch(() => undefined);
    await vi.waitFor(() => expect(text).toContain('event: table\ndata: {"revision":1,'));
    // Its age is read anew several times.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const headers = { "if-match": '"1"' };
    const put = { method: "PUT", headers, body: JSON.stringify(stack.declared) };
    expect((await fetch(`${stack.url}/-/table`, put)).status).toBe(201);
    await vi.waitFor(() => expect(text).toContain('event: table\ndata: {"revision":2,'), { timeout: 10_000 });
    // A table that only grew older is not told again.
    expect(text.match(/^event: table$/gm)).toHaveLength(2);
    page.abort();
  });
});

describe("the build of the page", () => {
  it("names its files by their content, keeps none of an earlier build, and has no script of its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-build-"));
    writeFileSync(join(folder, "main.OLDOLD22.js"), "old");
    const files = await buildConsole(folder);
    for (const { name } of files) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}\.[A-Z0-9]{8}\.(js|css|json|svg|woff2)$/);
    const names = files.flatMap(({ name }) => [name, `${name}.gz`]);
    expect(new Set(readdirSync(folder))).toEqual(new Set([...names, "shell.html"]));
    rmSync(folder, { recursive: true });
  });
});
