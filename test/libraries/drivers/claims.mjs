/** Statements of the page about libraries alone: prints each with whether it holds. */

const many = (make, count = 200) => Array.from({ length: count }, make);

const { Snowflake: NodeSnowflake } = await import("nodejs-snowflake");
const { default: snowflakeId } = await import("snowflake-id");
const { default: flakeId } = await import("flakeid");
const { Snowflake: FolksSnowflake } = await import("@theinternetfolks/snowflake");
const { getTsid } = await import("tsid-ts");
const { Sonyflake } = await import("sonyflake");
const { default: fromTime } = await import("timestamp-objectid");
const { create, toHex } = await import("small-uuid");
const { decode } = await import("slugid");
const { default: hyperid } = await import("hyperid");
const { default: SequentialGuid } = await import("sequential-guid");

const startedAt = async () => {
  const epoch = Number(new NodeSnowflake().customEpoch());
  await new Promise((resolve) => setTimeout(resolve, 20));
  return epoch;
};
const machineOf = (text) => (BigInt(text) >> 12n) & 0x3ffn;
const machines = [snowflakeId, flakeId].map((module) => {
  const Generator = module.default ?? module;
  const generator = new Generator({ mid: 1023 });
  return machineOf(generator.generate?.() ?? generator.gen());
});
const shards = many(() => FolksSnowflake.parse(FolksSnowflake.generate()).shard_id);
const epochs = [await startedAt(), await startedAt()];
const guids = new SequentialGuid();

const claims = {
  "nodejs-snowflake: two starts have two epochs": epochs[0] !== epochs[1],
  "snowflake-id and flakeid: machine 1023 is 0": machines.every((machine) => machine === 0n),
  "@theinternetfolks/snowflake: shards change with each ID": new Set(shards).size > 100,
  "tsid-ts: toDecimalString is another number": many(getTsid).some((id) => id.toDecimalString() !== `${id.toBigInt()}`),
  "sonyflake: 65 bits at its default": BigInt(new Sonyflake({ machineId: 1 }).nextId()) >> 64n === 1n,
  "timestamp-objectid: equal within a second":
    `${fromTime(new Date(1_795_761_814_000))}` === `${fromTime(new Date(1_795_761_814_999))}`,
  "small-uuid: slugid reads another UUID": many(create).some((text) => toHex(text) !== decode(text)),
  "hyperid: a slash without urlSafe": hyperid()().includes("/"),
  "sequential-guid: each is one more": BigInt(`0x${plain(guids.next())}`) + 1n === BigInt(`0x${plain(guids.next())}`),
};

function plain(uuid) {
  return uuid.replaceAll("-", "");
}

process.stdout.write(JSON.stringify(claims), () => process.exit());
