import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { Browser, Page, Request } from "playwright-core";
import type { MetricsHistory } from "../../../src/published/console-api.ts";
import type { ConsoleStack } from "./console.ts";

/** Pictures of pages that are the same on each machine and at each time: one font, one clock, fixed figures. */

/** The clock of the page. */
const NOW = Date.parse("2026-06-01T12:00:00Z");

/** Only the font that the packaged browser brings: those of the machine differ. */
export function fontEnvironment(): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-fonts-"));
  mkdirSync(join(folder, "cache"));
  const file = join(folder, "fonts.conf");
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${join(tmpdir(), "fonts")}</dir><cachedir>${join(folder, "cache")}</cachedir></fontconfig>`,
  );
  return { FONTCONFIG_FILE: file };
}

const STEPS = 360;
const wave = (size: number, period: number) =>
  Array.from({ length: STEPS }, (_, at) => Math.round(size * (2 + Math.sin(at / period))));

const series = (size: number) => ({
  requests: wave(size, 30),
  errors: wave(size, 30).map((count, at) => (at > 240 && at < 270 ? count >> 2 : 0)),
  refused: wave(size, 50).map((count) => count >> 3),
  faults: wave(size, 30).map((_, at) => (at > 240 && at < 270 ? 2 : 0)),
  p50: wave(2, 40),
  p99: wave(9, 20),
  originP50: wave(1, 40),
  originP99: wave(7, 20),
});

const FIGURES: MetricsHistory = {
  source: "all",
  span: "hour",
  stepSeconds: 10,
  since: "2026-06-01T08:00:00Z",
  at: Array.from({ length: STEPS }, (_, at) => NOW / 1000 - (STEPS - at) * 10),
  total: series(90),
  regions: { eu: series(50), us: series(25), ap: series(15) },
  problems: { "unknown-entity": wave(3, 20), "region-unavailable": wave(1, 9) },
  tables: {
    stable: { requests: 48_120, errors: 96, p50: 4, p99: 38 },
    canary: { requests: 2_410, errors: 5, p50: 4, p99: 41 },
  },
};

const TIME = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** The same request with a token: what is asked in the browser's stead does not have its `Secure` cookie. */
async function ask({ url, consoleUrl }: ConsoleStack, asked: Request, token: string | undefined) {
  const target = new URL(asked.url().replace(consoleUrl, url));
  const headers = {
    host: new URL(consoleUrl).host,
    accept: "application/json",
    "sec-fetch-site": "same-origin",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const sent = request(target, { method: asked.method(), headers });
  sent.end(asked.postData() ?? undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const kept = ["content-type", "etag", "waybill-revision"].flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return { status: answer.statusCode ?? 0, headers: Object.fromEntries(kept), text: await readText(answer) };
}

/** What the gateway says, with times near now and ports of origins made fixed. */
export async function freeze(page: Page, stack: ConsoleStack, token?: string): Promise<void> {
  page.setDefaultTimeout(6_000);
  await page.clock.setFixedTime(NOW);
  const realNow = Date.now();
  const ports = stack.origins.map(({ url }) => new URL(url).host);
  const fix = (text: string) =>
    ports
      .reduce((all, host, at) => all.replaceAll(host, `127.0.0.1:1810${at + 1}`), text)
      .replaceAll(/"ageSeconds":\d+/g, '"ageSeconds":1')
      .replaceAll(/("source":)"(?:memory|edge|kv)"/g, '$1"memory"')
      .replace(TIME, (time) => {
        const distance = Date.parse(time) - realNow;
        if (Math.abs(distance) > 86_400_000) return time;
        return new Date(NOW + (distance > 300_000 ? 1_800_000 : -180_000)).toISOString();
      });
  await page.route(/\/-\/(?!console$|console\/assets)|\/mint$/, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/-/events") return route.abort();
    if (path === "/-/metrics/history") return route.fulfill({ json: FIGURES });
    const { status, headers, text } = await ask(stack, route.request(), token);
    return route.fulfill({ status, headers, body: fix(text) });
  });
}

/** Squares of eight pixels a side: their mean colours stand small differences of how text is drawn. */
const SQUARE = 8;
/** Of 255, in one of the three colours. */
const COLOUR_MAX = 20;

/** How many squares of two pictures differ, or -1 where their sizes do. */
export async function differingSquares(browser: Browser, kept: Buffer, now: Buffer): Promise<number> {
  const page = await browser.newPage();
  const count = await page.evaluate(
    async ({ pictures, square, colourMax }) => {
      const [before, after] = await Promise.all(
        pictures.map(async (picture) => {
          const image = new Image();
          image.src = `data:image/png;base64,${picture}`;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, image.width, image.height);
          const across = Math.ceil(image.width / square);
          const sums = new Float64Array(across * Math.ceil(image.height / square) * 3);
          for (let at = 0; at < data.length; at += 4) {
            const pixel = at / 4;
            const row = Math.floor(pixel / image.width / square);
            const own = (row * across + Math.floor((pixel % image.width) / square)) * 3;
            for (let colour = 0; colour < 3; colour++) {
              sums[own + colour] = (sums[own + colour] ?? 0) + (data[at + colour] ?? 0) / square ** 2;
            }
          }
          return { width: image.width, height: image.height, sums };
        }),
      );
      if (before === undefined || after === undefined) return -1;
      if (before.width !== after.width || before.height !== after.height) return -1;
      let found = 0;
      for (let at = 0; at < before.sums.length; at += 3) {
        const differs = [0, 1, 2].some(
          (colour) => Math.abs((before.sums[at + colour] ?? 0) - (after.sums[at + colour] ?? 0)) > colourMax,
        );
        if (differs) found++;
      }
      return found;
    },
    {
      pictures: [kept, now].map((picture) => picture.toString("base64")),
      square: SQUARE,
      colourMax: COLOUR_MAX,
    },
  );
  await page.close();
  return count;
}
