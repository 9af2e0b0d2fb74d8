/** A strict reader of Prometheus's text exposition format 0.0.4: what it takes, every scraper takes. Throws at the first fault. */

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Read[];
}

export interface Read {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\\\n]|\\\\[\\\\n])+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.+)\\})? (-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|[+-]Inf|NaN)$`);
const PAIR = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\[\\"n])*)"(?:,(?=.)|$)/y;

export function readExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, { type: string; help: string; samples: Read[] }>();
  const seen = new Set<string>();
  let current = "";
  const lines = text.slice(0, -1).split("\n");
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const help = HELP.exec(line);
    if (help !== null) {
      const [, name = "", words = ""] = help;
      const type = TYPE.exec(lines[++index] ?? "");
      if (type?.[1] !== name) throw new Error(`no type behind the help of ${name}`);
      if (families.has(name)) throw new Error(`${name} stands in two blocks`);
      families.set(name, { type: type[2] ?? "", help: unescaped(words), samples: [] });
      current = name;
      continue;
    }
    const sample = readSample(line);
    const family = families.get(current);
    if (family === undefined) throw new Error(`no metric before: ${line}`);
    const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    if (!suffixes.some((suffix) => sample.name === current + suffix)) throw new Error(`not of ${current}: ${line}`);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    if (family.type === "counter" && !current.endsWith("_total"))
      throw new Error(`a counter without _total: ${current}`);
    if (family.type !== "gauge" && !(sample.value >= 0)) throw new Error(`below 0: ${line}`);
    family.samples.push(sample);
  }
  for (const [name, family] of families) {
    if (family.samples.length === 0) throw new Error(`${name} has no sample`);
    if (family.type === "histogram") checkHistogram(name, family.samples);
  }
  return families;
}

function readSample(line: string): Read {
  const found = SAMPLE.exec(line);
  if (found === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", pairs = "", value = ""] = found;
  const labels: Record<string, string> = {};
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < pairs.length) {
    const pair = PAIR.exec(pairs);
    if (pair === null) throw new Error(`not labels: ${line}`);
    const [, label = "", text = ""] = pair;
    if (Object.hasOwn(labels, label)) throw new Error(`a label twice: ${line}`);
    labels[label] = unescaped(text);
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, next: string) => (next === "n" ? "\n" : next));

/** Buckets rise, in count and in bound, the last one has no bound, and it is the count. */
function checkHistogram(name: string, samples: readonly Read[]): void {
  const groups = new Map<string, Read[]>();
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels;
    const key = JSON.stringify(others);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  for (const [key, group] of groups) {
    const buckets = group.filter((sample) => sample.name.endsWith("_bucket"));
    const bounds = buckets.map(({ labels }) => Number((labels["le"] ?? "").replace("Inf", "Infinity")));
    const rises = (values: readonly number[], least: number) =>
      values.every((value, index) => index === 0 || value - (values[index - 1] ?? 0) >= least);
    if (!rises(bounds, Number.MIN_VALUE) || bounds.at(-1) !== Infinity) throw new Error(`bounds of ${name} ${key}`);
    if (
      !rises(
        buckets.map(({ value }) => value),
        0,
      )
    )
      throw new Error(`buckets of ${name} ${key} fall`);
    const count = group.filter((sample) => sample.name.endsWith("_count"));
    const sum = group.filter((sample) => sample.name.endsWith("_sum"));
    if (count.length !== 1 || sum.length !== 1) throw new Error(`${name} ${key} has no sum or no count`);
    if (count[0]?.value !== buckets.at(-1)?.value) throw new Error(`${name} ${key} does not add up`);
  }
}
