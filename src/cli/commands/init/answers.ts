import type { Layout } from "../../../ids/index.ts";
import { err, ok, type Result } from "../../../ids/index.ts";
import { readOriginUrl } from "../../../routing/compile/origin-url.ts";
import { NAME_FORM } from "../../../routing/schema/records.ts";
import { findLayout } from "../../lib/layouts.ts";
import { escapeControls } from "../../lib/output.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { refuseFiles } from "./folder.ts";
import { type Answers, PLATFORMS, type Platform, tooOldForCloudflare } from "./project.ts";
import { readingsAs, readSample, type Sample, type SampleReading } from "./sample.ts";
import type { FirstRegion, KnownId } from "./table.ts";

/** Answers by flags, at the terminal, or by default. */

/** The words of the command line. */
export interface Given {
  readonly folder?: string | undefined;
  readonly name?: string;
  readonly platform?: string;
  readonly region?: readonly string[];
  readonly sample?: string;
  readonly layout?: string;
  readonly sampleRegion?: string;
  readonly entity?: string;
  readonly path?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** A name for npm and for Workers. npm installs no package into one of the same name. */
const isName = (text: string): boolean =>
  /^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/.test(text) && !["waybill", "wrangler"].includes(text);

const NO_NAME =
  "is no name for the package and the Worker: write up to 50 lower-case letters, digits and hyphens, and not the name of a dependency";

/** The name of a folder as one. */
export function packageName(folder: string): string {
  const plain = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, "");
  return isName(plain) ? plain : `${plain}-gateway`.replace(/^-/, "");
}

const FOLDER_DEFAULT = "my-gateway";

/** Origins of this machine, which have stand-ins where they are not there. */
const REGIONS_DEFAULT = "eu=http://127.0.0.1:8788 us=http://127.0.0.1:8789";

type Read<Value> = (text: string) => Result<Value, string>;

interface Question<Value> {
  readonly flag: string | undefined;
  readonly text: string;
  readonly byDefault: string;
  /** The error is a sentence. */
  readonly read: Read<Value>;
}

export async function readAnswers(given: Given, layouts: readonly Layout[], runtime: Runtime) {
  const { name } = given;
  if (name !== undefined && !isName(name))
    misuse(`error: ${escapeControls(JSON.stringify(name))} ${NO_NAME} (--name)\n`);
  if (given.sample === undefined && (given.layout ?? given.sampleRegion) !== undefined)
    misuse("error: --layout and --sample-region are about a sample; give --sample\n");
  const ask = asker(given, runtime);
  const folder = await ask({
    flag: given.folder,
    text: "Folder",
    byDefault: FOLDER_DEFAULT,
    read: (text) => ok(text === "" ? "." : text),
  });
  // Before all other questions.
  refuseFiles(folder, runtime);
  const flagged = sampleOf(given, layouts, runtime);
  const tooOld = tooOldForCloudflare(runtime.nodeVersion);
  const platform = await ask({
    flag: given.platform,
    text: `Where does it run: ${PLATFORMS.join(", ")}${tooOld === undefined ? "" : ` (${tooOld})`}`,
    byDefault: "both",
    read: platformNamed,
  });
  const regions = await ask({
    flag: given.region?.join(" "),
    text: "Regions as name=url, with spaces between them",
    byDefault: REGIONS_DEFAULT,
    read: readRegions,
  });
  const sample = flagged ?? (await askSample(layouts, ask, runtime));
  const known = sample && (await knownOf(given, { ...sample, layouts }, regions, ask));
  const answers: Omit<Answers, "name"> & { readonly name: string | undefined } = {
    name,
    platform,
    regions,
    known,
    entity: entityOf(given, sample),
  };
  return { folder, answers };
}

type Ask = <Value>(question: Question<Value>) => Promise<Value>;

/** A flag that is wrong ends the command; an answer that is wrong is asked for again. */
function asker({ yes = false, json = false }: Given, runtime: Runtime): Ask {
  const isAsking = !yes && !json && runtime.stdin.isTerminal && runtime.isReportWatched;
  return async ({ flag, text, byDefault, read }) => {
    if (flag !== undefined || !isAsking) {
      const value = read(flag ?? byDefault);
      return value.ok ? value.value : misuse(`error: ${escapeControls(value.error)}\n`);
    }
    for (;;) {
      const answer = await runtime.prompt(byDefault === "" ? `${text}: ` : `${text} [${byDefault}]: `);
      if (!answer.ok)
        return fail("\nerror: nothing was written\n", answer.error === "interrupted" ? EXIT.interrupted : EXIT.failed);
      const value = read(answer.value.trim() || byDefault);
      if (value.ok) return value.value;
      runtime.report(`${escapeControls(value.error)}\n`);
    }
  };
}

const platformNamed: Read<Platform> = (text) => {
  const platform = PLATFORMS.find((each) => each === text);
  return platform === undefined ? err(`${JSON.stringify(text)} is none of ${PLATFORMS.join(", ")}.`) : ok(platform);
};

const readRegions: Read<readonly [FirstRegion, ...FirstRegion[]]> = (text) => {
  const regions: FirstRegion[] = [];
  for (const part of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, name = "", url = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    if (!NAME_FORM.test(name))
      return err(`Write a region as name=url, such as eu=https://eu.example.com; ${JSON.stringify(part)} is none.`);
    if (regions.some((region) => region.name === name)) return err(`Region ${name} is given twice.`);
    const origin = readOriginUrl(url);
    if (!origin.ok) return origin;
    regions.push({ name, url });
  }
  const [first, ...others] = regions;
  return first === undefined
    ? err("Name at least one region, such as eu=https://eu.example.com.")
    : ok([first, ...others]);
};

const NONE = "none";

function sampleOf(given: Given, layouts: readonly Layout[], { nowMs }: Runtime): Sample | undefined {
  if (given.sample === undefined) return undefined;
  const sample = readSample(given.sample.trim(), layouts, nowMs());
  return isRead(sample, given, layouts) ? sample : fail(`error: ${unreadable(sample)}\n${OTHERWISE}`);
}

async function askSample(layouts: readonly Layout[], ask: Ask, runtime: Runtime) {
  const text = await ask({
    flag: undefined,
    text: "An ID that you have, or a URL with one",
    byDefault: NONE,
    read: (answer) => ok(answer),
  });
  if (text === NONE) return undefined;
  const sample = readSample(text, layouts, runtime.nowMs());
  if (sample.readings.length > 0) return sample;
  runtime.report(`${unreadable(sample)} The table begins without it.\n${OTHERWISE}`);
  return undefined;
}

const isRead = (sample: Sample, { layout }: Given, layouts: readonly Layout[]): boolean =>
  sample.readings.length > 0 || layouts.some((each) => each.name === layout && readingsAs(sample, each).length > 0);

const OTHERWISE =
  "  a table can declare a layout for it, or a directory of such texts: begin without a sample, and add that\n";

const unreadable = ({ id, hint }: Sample): string =>
  escapeControls(`${JSON.stringify(id)} is no ID of a built-in layout.${hint}`);

/** With the layouts that may be named. */
type AskedSample = Sample & { readonly layouts: readonly Layout[] };

async function knownOf(given: Given, sample: AskedSample, regions: readonly FirstRegion[], ask: Ask): Promise<KnownId> {
  const reading = await readingOf(given, sample, ask);
  const [first] = regions;
  const names = regions.map(({ name }) => name);
  const region = await ask({
    // Nothing is to be chosen of one.
    flag: given.sampleRegion ?? (names.length === 1 ? first?.name : undefined),
    text: `Which region has ${sample.id}: ${names.join(", ")}`,
    byDefault: first?.name ?? "",
    read: (text) =>
      names.includes(text) ? ok(text) : err(`There is no region ${JSON.stringify(text)}: ${names.join(", ")}.`),
  });
  return { ...reading, id: sample.id, region };
}

async function readingOf({ layout: flag }: Given, sample: AskedSample, ask: Ask): Promise<SampleReading> {
  const { readings, id, layouts } = sample;
  const [first, ...others] = readings;
  if (flag === undefined && first !== undefined && others.length === 0) return first;
  const names = [...new Set(readings.map(({ layout }) => layout.name))];
  const among = `${JSON.stringify(id)} can be read as ${names.join(", ")}`;
  return ask({
    flag,
    text: `${among}. Which is it`,
    byDefault: "",
    read: (text) => {
      if (text === "") return err(`${among}; name one (--layout).`);
      const layout = findLayout(text, layouts);
      if (!layout.ok) return layout;
      const [read] = readingsAs(sample, layout.value);
      return read === undefined
        ? err(`${JSON.stringify(id)} is no ID of ${text}; it is one of ${names.join(", ")}.`)
        : ok(read);
    },
  });
}

const ENTITY_DEFAULT = "order";

/** By the path above the sample, where it has one that is an entity's. */
function entityOf({ entity, path }: Given, sample: Sample | undefined) {
  const above = sample?.above ?? [];
  const last = above.at(-1) ?? "";
  const isOwn = above.length > 0 && !["any", "mint", "-"].includes(above[0] ?? "") && NAME_FORM.test(last);
  const name = entity ?? (isOwn ? singular(last) : ENTITY_DEFAULT);
  return { name, path: path ?? (isOwn ? `/${above.join("/")}/:id` : `/${name}s/:id`) };
}

/** `orders` → `order`. A word whose end tells less stays. */
const singular = (word: string): string =>
  /(?:ss|us|is|ies|ses|xes|zes|ches|shes)$/.test(word) ? word : word.replace(/s$/, "");
