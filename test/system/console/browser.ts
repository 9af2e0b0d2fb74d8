import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { type Browser, type LaunchOptions, chromium as playwright } from "playwright-core";

/**
 * Not the package's own arguments: those switch the browser's security off. Letters have one colour and one place on
 * every machine: no hints, no edges by the order of a screen's colours, no profile of a screen.
 */
const ARGUMENTS = [
  "--no-sandbox",
  "--no-zygote",
  "--disable-gpu",
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
];

const FONTS = join(dirname(createRequire(import.meta.url).resolve("dejavu-fonts-ttf/package.json")), "ttf");
const FONT_FILES = ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold"];

/** `more`: arguments. A real browser, with the fonts of one package alone: those of the machine differ. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-fonts-"));
  mkdirSync(join(folder, "cache"));
  for (const name of FONT_FILES) copyFileSync(join(FONTS, `${name}.ttf`), join(folder, `${name}.ttf`));
  const file = join(folder, "fonts.conf");
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}</dir><cachedir>${join(folder, "cache")}</cachedir></fontconfig>`,
  );
  const executablePath = await chromium.executablePath();
  return launchWhenUnpacked({
    executablePath,
    args: [...ARGUMENTS, ...more],
    env: { ...process.env, FONTCONFIG_FILE: file },
  });
}

const UNPACKED_LOOKS_MAX = 60;
const LOOK_EVERY_MS = 500;

/** On a new machine two tests need the browser at once: one unpacks it, and the other cannot run a file that is being written. */
async function launchWhenUnpacked(options: LaunchOptions): Promise<Browser> {
  for (let look = 1; ; look++) {
    try {
      return await playwright.launch(options);
    } catch (error) {
      if (look === UNPACKED_LOOKS_MAX || !String(error).includes("ETXTBSY")) throw error;
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}
