import {
  combPrefix,
  combSqlLegacy,
  combSuffix,
  compileLayout,
  cuid,
  discordSnowflake,
  distributedId,
  distributedId128,
  elasticflake,
  type FieldValue,
  flake,
  flakeId,
  flakeIdTable,
  formatUuid,
  instagramShardingId,
  isoTime,
  ksuid,
  type Layout,
  type LayoutTable,
  lexicalUuid,
  objectId,
  orderedUuid,
  pushId,
  shardingIdTable,
  shortPrefixComb,
  shortSuffixComb,
  sid,
  snowflakeTable,
  sonyflakeV1,
  sonyflakeV2,
  textsOf,
  twitterSnowflake,
  ulid,
  type Words,
  xid,
} from "../../../src/ids/index.ts";
import type { VectorCase } from "./vector-file.ts";

/** Maps the cases of each vector file to our layouts, texts and field names. */

type Values = Readonly<Record<string, FieldValue>>;
type Input = NonNullable<VectorCase["input"]>;

export interface VectorLayout {
  readonly layout: (input: Input) => Layout;
  /** The text form of the case. Defaults to the canonical one. */
  readonly form?: (input: Input, text: string) => string;
  readonly fields: (values: Values, words: Words, layout: Layout) => VectorCase["fields"];
}

const hex = (value: FieldValue | undefined, digits: number): string => (value ?? -1).toString(16).padStart(digits, "0");

const at = (layout: Layout, words: Words): number => layout.mintedAtMs?.(words) ?? Number.NaN;

const time = (layout: Layout, words: Words): VectorCase["fields"] => ({
  unixMs: at(layout, words),
  time: isoTime(at(layout, words)) ?? null,
});

const number = (value: FieldValue | undefined): number => Number(value ?? Number.NaN);

const compiled = (table: LayoutTable): Layout => {
  const layout = compileLayout(table);
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  return layout.value;
};

const always =
  (layout: Layout): VectorLayout["layout"] =>
  () =>
    layout;

const picked =
  (key: string, layouts: Readonly<Record<string, Layout>>): VectorLayout["layout"] =>
  (input) => {
    const layout = layouts[String(input[key])];
    if (layout === undefined) throw new Error(`no layout for ${key} ${input[key]}`);
    return layout;
  };

/** The named layout with this epoch, else a new layout. */
const withEpoch =
  (known: Readonly<Record<string, Layout>>, table: (epochMs: number) => LayoutTable): VectorLayout["layout"] =>
  ({ epochMs = "default" }) =>
    known[String(epochMs)] ?? compiled(table(Number(epochMs)));

const FORM_NAMES: Readonly<Record<string, string>> = { alphanumeric: "base62", guid: "uuid" };

const encoding: VectorLayout["form"] = ({ encoding: name }) => FORM_NAMES[String(name)] ?? String(name);

const machine = (values: Values): VectorCase["fields"] => ({
  datacenterId: number(values["datacenter"]),
  workerId: number(values["worker"]),
  machineId: number(values["datacenter"]) * 32 + number(values["worker"]),
  sequence: number(values["sequence"]),
});

export const vectorLayouts: Readonly<Record<string, VectorLayout>> = {
  comb: {
    layout: picked("kind", {
      "suffix-sql-datetime": combSqlLegacy,
      "suffix-unix-ms": combSuffix,
      "prefix-unix-ms": combPrefix,
    }),
    fields: (values, words, layout) => {
      if (layout !== combSqlLegacy) return time(layout, words);
      const value = number(values["mintedAt"]);
      return { days: Math.floor(value / 2 ** 32), ticks300: value % 2 ** 32, ...time(layout, words) };
    },
  },
  cuid: {
    layout: always(cuid),
    fields: (values, words, layout) => {
      const text = layout.format(words);
      return {
        ...time(layout, words),
        counter: number(values["counter"]),
        counterText: text.slice(9, 13),
        fingerprint: text.slice(13, 17),
        random: text.slice(17),
      };
    },
  },
  "distributed-id": {
    layout: always(distributedId),
    form: encoding,
    fields: (values, words, layout) => {
      const { decimal, base62, hex: digits, uuid } = textsOf(layout, words) as Record<string, string>;
      return {
        decimal: decimal as string,
        alphanumeric: base62 as string,
        hex: digits as string,
        guid: uuid as string,
        epochMs: number(values["mintedAt"]),
        ...time(layout, words),
        random: String(values["random"]),
      };
    },
  },
  "distributed-id-128": {
    layout: always(distributedId128),
    form: encoding,
    fields: (values, words, layout) => {
      const { uuid, hex: digits, base62, decimal, longs } = textsOf(layout, words) as Record<string, string>;
      const [upper, lower] = (longs as string).split(",");
      return {
        uuid: uuid as string,
        hex: digits as string,
        alphanumeric: base62 as string,
        decimal: decimal as string,
        upper: upper as string,
        lower: lower as string,
        epochMs: number(values["mintedAt"]),
        ...time(layout, words),
        random: String(values["random"]),
      };
    },
  },
  elasticflake: {
    layout: always(elasticflake),
    fields: (values, words, layout) => ({
      ...time(layout, words),
      nodeHex: hex(values["node"], 12),
      sequence: number(values["sequence"]),
    }),
  },
  flake: {
    layout: always(flake),
    form: encoding,
    fields: (values, words, layout) => ({
      ...time(layout, words),
      unixMs:
        values["mintedAt"] === undefined || values["mintedAt"] > 2 ** 53
          ? String(values["mintedAt"])
          : number(values["mintedAt"]),
      workerHex: hex(values["worker"], 12),
      sequence: number(values["sequence"]),
    }),
  },
  flakeid: {
    layout: withEpoch({ default: flakeId }, (epochMs) => flakeIdTable({ epochMs })),
    form: ({ encoding: name = "decimal" }) => String(name),
    fields: (values, words, layout) => ({ ...time(layout, words), ...machine(values) }),
  },
  ksuid: {
    layout: always(ksuid),
    fields: (values, words, layout) => ({
      timestamp: number(values["mintedAt"]),
      unixSeconds: at(layout, words) / 1000,
      time: isoTime(at(layout, words)) ?? null,
      payloadHex: hex(values["random"], 32),
    }),
  },
  "lexical-uuid": {
    layout: always(lexicalUuid),
    fields: (values, words, layout) => ({
      timestampMicros: String(values["mintedAt"]),
      ...time(layout, words),
      workerHex: hex(values["worker"], 16),
    }),
  },
  objectid: {
    layout: always(objectId),
    fields: (values, words, layout) => ({
      timestamp: number(values["mintedAt"]),
      time: isoTime(at(layout, words)) ?? null,
      processHex: hex(values["process"], 10),
      legacyMachineHex: hex(values["process"], 10).slice(0, 6),
      legacyPid: Number.parseInt(hex(values["process"], 10).slice(6), 16),
      counter: number(values["counter"]),
    }),
  },
  "ordered-uuid": {
    layout: always(orderedUuid),
    fields: (values, words, layout) => ({ ticks10us: number(values["mintedAt"]), ...time(layout, words) }),
  },
  pushid: {
    layout: always(pushId),
    fields: (values, words, layout) => ({
      ...time(layout, words),
      randomText: layout.format(words).slice(8),
      randomHex: hex(values["random"], 18),
    }),
  },
  "sharding-id": {
    layout: withEpoch({ default: instagramShardingId }, (epochMs) => shardingIdTable({ epochMs })),
    fields: (values, words, layout) => ({
      ...time(layout, words),
      shardId: number(values["shard"]),
      sequence: number(values["sequence"]),
    }),
  },
  "short-comb": {
    layout: picked("kind", { prefix: shortPrefixComb, suffix: shortSuffixComb }),
    fields: (values) => ({ counter: number(values["interval"]) }),
  },
  sid: {
    layout: always(sid),
    form: (_input, text) => ({ 23: "base64", 27: "base32", 33: "hex" })[text.length] ?? "decimal",
    fields: (values, words, layout) => ({
      unixNanos: String(values["mintedAt"]),
      ...time(layout, words),
      random: String(values["random"]),
    }),
  },
  snowflake: {
    layout: withEpoch({ 1288834974657: twitterSnowflake, 1420070400000: discordSnowflake }, (epochMs) =>
      snowflakeTable({ epochMs }),
    ),
    fields: (values, words, layout) => ({ ...time(layout, words), ...machine(values) }),
  },
  sonyflake: {
    layout: picked("version", { 1: sonyflakeV1, 2: sonyflakeV2 }),
    fields: (values, words, layout) => ({
      elapsed10ms: number(values["mintedAt"]),
      ...time(layout, words),
      sequence: number(values["sequence"]),
      machineId: number(values["machine"]),
    }),
  },
  ulid: {
    layout: always(ulid),
    fields: (values, words, layout) => ({
      ...time(layout, words),
      randomnessHex: hex(values["random"], 20),
      uuid: formatUuid(words),
    }),
  },
  xid: {
    layout: always(xid),
    fields: (values, words, layout) => ({
      timestamp: number(values["mintedAt"]),
      time: isoTime(at(layout, words)) ?? null,
      machineHex: hex(values["machine"], 6),
      pid: number(values["process"]),
      counter: number(values["counter"]),
      objectIdHex: objectId.format(words),
    }),
  },
};
