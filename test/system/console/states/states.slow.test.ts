import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenPage, violations } from "../console.ts";
import { decode, differingSquares, encode, type Picture } from "./pictures.ts";
import { STATES, type State, type StateStack, startStates } from "./states.ts";

/**
 * Every page and state looks as it did, and people with other eyes, hands and screens can use it (WCAG 2.2 AA).
 * `KEEP_PICTURES=1` keeps what is drawn now: look at each before it is committed.
 */

const KEEP = process.env["KEEP_PICTURES"] === "1";
const FOLDER = fileURLToPath(new URL("pictures", import.meta.url));
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const LOOKS = (
  [
    ["light", "phone", PHONE],
    ["dark", "phone", PHONE],
    ["dark", "desktop", DESKTOP],
    ["light", "desktop", DESKTOP],
  ] as const
).map(([theme, size, viewport]) => ({ theme, viewport, folder: `${theme}-${size}` }));
/** A short word has as many. */
const SQUARES_MAX = 2;
/** A picture shows what is below the screen too, up to here. */
const HEIGHT_MAX = 1_500;

let stack: StateStack;
beforeAll(async () => {
  stack = await startStates();
});
afterAll(() => stack?.stop());

/** Styles in the page's own way: its policy refuses those that tools add to a page. The page's own sheets stay; that of a test before goes. */
const adopt = (page: Page, css: string) =>
  page.evaluate((text) => {
    const isOfTest = (sheet: CSSStyleSheet) => Reflect.get(sheet, "isOfTest") === true;
    const sheet = Object.assign(new CSSStyleSheet(), { isOfTest: true });
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets.filter((each) => !isOfTest(each)), sheet];
  }, css);

/** Hides parts that no two pictures show alike: a cursor that blinks, and random texts. */
const stillOf = (random: string) =>
  `* { caret-color: transparent !important } ${random} { visibility: hidden !important }`;

async function shoot(page: Page): Promise<Picture> {
  const [isWindow, height] = await page.evaluate(
    () => [document.querySelector("dialog[open]") !== null, document.documentElement.scrollHeight] as const,
  );
  const { width = 0, height: screen = 0 } = page.viewportSize() ?? {};
  const clip = { x: 0, y: 0, width, height: isWindow ? screen : Math.min(Math.max(screen, height), HEIGHT_MAX) };
  return decode(await page.screenshot({ scale: "css", caret: "initial", fullPage: !isWindow, clip }));
}

async function look(page: Page, { theme, viewport }: (typeof LOOKS)[number]): Promise<void> {
  // Nothing is below the pointer.
  await page.mouse.move(0, 0);
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** A page draws itself anew in its own time: it has until `DRAWN_MS` to look as kept. */
const DRAWN_MS = 4_000;

async function expectAsKept(page: Page, { name, pictures, random = "[data-none]" }: State): Promise<void> {
  const faults: string[] = [];
  await adopt(page, stillOf(random));
  // With two pictures: the phone in the light, the desktop in the dark.
  for (const each of LOOKS.filter((_, at) => pictures === 4 || at % 2 === 0)) {
    await look(page, each);
    const file = join(FOLDER, each.folder, `${name}.png`);
    if (KEEP) {
      await page.waitForTimeout(DRAWN_MS / 2);
      mkdirSync(join(FOLDER, each.folder), { recursive: true });
      writeFileSync(file, encode(await shoot(page)));
    }
    const kept = decode(readFileSync(file));
    const until = performance.now() + DRAWN_MS;
    for (;;) {
      const now = await shoot(page);
      const count = differingSquares(kept, now);
      if (count >= 0 && count <= SQUARES_MAX) break;
      if (performance.now() < until) continue;
      const place = join(tmpdir(), `waybill-${each.folder}-${name}.png`);
      writeFileSync(place, encode(now));
      faults.push(`${each.folder}/${name}: ${count} squares differ; drawn now: ${place}`);
      break;
    }
  }
  expect(faults).toEqual([]);
}

async function expectSound(opened: OpenPage): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await opened.page.emulateMedia({ colorScheme });
    expect((await violations(opened)).join("\n")).toBe("");
  }
  expect(opened.faults).toEqual([]);
  // It was asked for no motion.
  expect(await opened.page.evaluate(() => document.getAnimations().length)).toBe(0);
}

/** Text that its box cuts off, and boxes that are wider than the page. What scrolls in itself is left out. */
const cutOff = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const seen = (element: Element) => !element.closest(".hidden, .skip, .many, .scroll, nav, [hidden]");
    for (const element of document.querySelectorAll<HTMLElement>("body *")) {
      if (!seen(element)) continue;
      const { overflowX, display, clipPath } = getComputedStyle(element);
      // Told to assistive technology alone.
      if (clipPath === "inset(50%)") continue;
      const { right, width } = element.getBoundingClientRect();
      const isCut = (overflowX === "hidden" || overflowX === "clip") && !element.matches("input, .cm-editor *");
      if (display !== "inline" && isCut && element.scrollWidth > element.clientWidth + 1)
        found.push(`cut off: ${element.outerHTML.slice(0, 120)}`);
      if (width > 0 && right > innerWidth + 1) found.push(`beyond the page: ${element.outerHTML.slice(0, 120)}`);
    }
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) found.push(`the page is ${scrollWidth} wide, the screen ${innerWidth}`);
    return found;
  });

/** WCAG 1.4.10 and 1.4.4: a narrow screen, and letters of twice the size on a wide and a narrow one. */
async function expectReflow(page: Page): Promise<void> {
  for (const [width, text] of [
    [320, 100],
    [1280, 200],
    [640, 200],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate((percent) => {
      document.documentElement.style.fontSize = percent === 100 ? "" : `${percent}%`;
    }, text);
    // Charts are drawn anew once their place has its width.
    await expect
      .poll(async () => ({ width, text, faults: await cutOff(page) }), { timeout: 5_000, interval: 50 })
      .toEqual({ width, text, faults: [] });
  }
  await page.evaluate(() => document.documentElement.removeAttribute("style"));
  await page.setViewportSize(DESKTOP);
}

/** By Tab from the top to the end: each stop shows that it has the focus, and is in view (WCAG 2.4.7, 2.4.11). */
async function expectTabStops(page: Page): Promise<void> {
  await page.evaluate(() => {
    const window = document.querySelector("dialog[open]");
    if (window === null) (document.activeElement as HTMLElement | null)?.blur();
    scrollTo(0, 0);
  });
  const stops: string[] = [];
  const faults: string[] = [];
  for (let turn = 0; turn < 150; turn++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(async (own) => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      if (element === null || element === document.body) return undefined;
      // A hidden input shows its focus on its label, the editor and the box for everything on their frames.
      const frames = [
        [".cm-content", ".cm-editor"],
        ["[type=file]", "label"],
        [".ask :is(input, textarea)", ".ask"],
      ] as const;
      const [, frame = null] = frames.find(([inner]) => element?.matches(inner)) ?? [];
      const shown = (frame === null ? null : element.closest(frame)) ?? element;
      const isMarked = () => {
        const { outlineStyle, outlineWidth } = getComputedStyle(shown);
        return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
      };
      // The editor marks itself a moment later.
      for (let turn = 0; turn < 20 && !isMarked(); turn++) await new Promise(requestAnimationFrame);
      const { left, top, right, bottom } = shown.getBoundingClientRect();
      const isInView = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
      const before = element.getAttribute("data-stop");
      if (before === null) element.setAttribute("data-stop", `${own}`);
      return { name: element.outerHTML.slice(0, 100), isInView, isMarked: isMarked(), before };
    }, stops.length);
    // After the last one come the browser's own controls, then the first.
    if (stop === undefined) continue;
    if (stop.before !== null) {
      if (stop.before !== "0") faults.push(`keeps the focus: ${stop.name}`);
      break;
    }
    stops.push(stop.name);
    if (!stop.isInView || !stop.isMarked)
      faults.push(`${stop.isInView ? "" : "out of view "}${stop.isMarked ? "" : "unmarked "}${stop.name}`);
  }
  expect(faults).toEqual([]);
  expect(stops.length).toBeGreaterThan(0);
}

describe.each(STATES)("$name", (state) => {
  let opened: OpenPage;
  it("can be reached", async () => {
    opened = await state.open(stack);
  });
  it.skipIf(state.pictures === 0)("looks as kept", async () => {
    await expectAsKept(opened.page, state);
  });
  it("has no fault that axe finds, and keeps its policy", async () => {
    await expectSound(opened);
  });
  it("fits a narrow screen, and letters of twice the size", async () => {
    await expectReflow(opened.page);
  });
  it("shows where the keyboard is", async () => {
    await expectTabStops(opened.page);
  });
});

describe("the comparison", () => {
  it.each([
    ["a colour", "main button.main", "background", "#2368b4"],
    ["a place that is 4 px off", "main button.main", "translate", "0 4px"],
    ["a name that is gone", ".field label", "visibility", "hidden"],
    ["a short word that is gone", ".top .env", "visibility", "hidden"],
  ])("finds %s", async (_, selector, property, value) => {
    const page = (await STATES.find(({ name }) => name === "mint")?.open(stack))?.page as Page;
    for (const each of LOOKS) {
      await look(page, each);
      const before = await shoot(page);
      await page
        .locator(selector)
        .first()
        .evaluate(
          (element, [name = "", own = ""]) => (element as HTMLElement).style.setProperty(name, own),
          [property, value],
        );
      await look(page, each);
      expect(differingSquares(before, await shoot(page))).toBeGreaterThan(SQUARES_MAX);
      await page
        .locator(selector)
        .first()
        .evaluate((element) => element.removeAttribute("style"));
    }
  });

  it("stands colours that another processor rounds otherwise", () => {
    const width = 64;
    const height = 64;
    const colours = Buffer.from(Array.from({ length: width * height * 3 }, (_, at) => (at * 7) % 250));
    const rounded = Buffer.from(colours.map((colour, at) => colour + (at % 3)));
    expect(differingSquares({ width, height, colours }, { width, height, colours: rounded })).toBe(0);
    expect(differingSquares({ width, height, colours }, { width: 32, height: 128, colours })).toBe(-1);
  });

  it("has small pictures to compare with, which are read as they were written", () => {
    const files = globSync(`${FOLDER}/*/*.png`);
    const sizes = files.map((file) => statSync(file).size);
    expect(files.length).toBe(STATES.reduce((all, { pictures }) => all + pictures, 0));
    expect(Math.max(...sizes)).toBeLessThan(100 * 1024);
    expect(sizes.reduce((all, size) => all + size, 0)).toBeLessThan(5 * 1024 ** 2);
    const kept = decode(readFileSync(files[0] as string));
    expect(decode(encode(kept)).colours.equals(kept.colours)).toBe(true);
  });
});
