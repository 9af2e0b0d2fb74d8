/** Snowflakes and their kin. See run.mjs for what a driver is. */

const TWITTER_MS = 1_288_834_974_657;

export const snowflakes = {
  "@sapphire/snowflake": async () => {
    const { DiscordSnowflake } = await import("@sapphire/snowflake");
    return {
      make: () => DiscordSnowflake.generate({ workerId: 7n, processId: 9n }).toString(),
      decode: (text) => {
        const { timestamp, workerId, processId, increment } = DiscordSnowflake.deconstruct(text);
        return { mintedAt: timestamp, datacenter: workerId, worker: processId, sequence: increment };
      },
      read: (text) => DiscordSnowflake.timestampFrom(text) > 0,
    };
  },
  "discord-snowflake": async () => {
    const discord = await import("discord-snowflake");
    const { DiscordSnowflake } = await import("@sapphire/snowflake");
    return {
      // It makes none.
      make: () => DiscordSnowflake.generate({ workerId: 7n, processId: 9n }).toString(),
      decode: (text) => {
        const { timestamp, workerId, processId, increment } = discord.parse(text);
        return { mintedAt: timestamp, datacenter: workerId, worker: processId, sequence: increment };
      },
      read: (text) => discord.isSnowflake(text),
    };
  },
  "nodejs-snowflake": async () => {
    const { Snowflake } = await import("nodejs-snowflake");
    const epoch = Date.UTC(2020, 0, 1);
    const snowflake = new Snowflake({ custom_epoch: epoch, instance_id: 77 });
    return {
      make: () => snowflake.getUniqueID().toString(),
      decode: (text) => ({
        mintedAt: Snowflake.timestampFromID(BigInt(text), epoch),
        instance: Snowflake.instanceIDFromID(BigInt(text)),
      }),
      known: { instance: 77 },
      read: (text) => Snowflake.timestampFromID(BigInt(text), epoch) > epoch,
    };
  },
  "snowflake-id": async () => {
    const { default: module } = await import("snowflake-id");
    const Snowflake = module.default ?? module;
    const snowflake = new Snowflake({ mid: 77 });
    return { make: () => snowflake.generate(), known: { machine: 77 } };
  },
  flakeid: async () => {
    const { default: module } = await import("flakeid");
    const FlakeId = module.default ?? module;
    const flake = new FlakeId({ mid: 77 });
    return { make: () => flake.gen(), known: { machine: 77 } };
  },
  "@akashrajpurohit/snowflake-id": async () => {
    const { SnowflakeId } = await import("@akashrajpurohit/snowflake-id");
    const snowflake = SnowflakeId({ workerId: 77 });
    return { make: () => snowflake.generate(), known: { machine: 77 } };
  },
  "@skorotkiewicz/snowflake-id": async () => {
    const { Snowflake, decodeSnowflake } = await import("@skorotkiewicz/snowflake-id");
    const snowflake = new Snowflake(77);
    const decode = (text) => {
      const { timestamp, machineId, sequence } = decodeSnowflake(text);
      return { mintedAt: new Date(timestamp).getTime(), machine: machineId, sequence };
    };
    return {
      make: () => snowflake.generate(),
      decode,
      known: { machine: 77 },
      read: (text) => decode(text).mintedAt > 0,
    };
  },
  "@nocobase/snowflake-id": async () => {
    const { Snowflake } = await import("@nocobase/snowflake-id");
    const snowflake = new Snowflake({ workerId: 7 });
    return {
      make: () => String(snowflake.generate()),
      decode: (text) => {
        const { timestamp, workerId, sequence } = snowflake.parse(Number(text));
        return { mintedAt: timestamp * 1000, worker: workerId, sequence };
      },
      known: { worker: 7 },
      read: (text) => snowflake.parse(Number(text)).timestamp > 0,
    };
  },
  "snowflake-uuid": async () => {
    const { Worker } = await import("snowflake-uuid");
    const worker = new Worker(9, 7);
    return { make: () => worker.nextId().toString(), known: { datacenter: 7, worker: 9 } };
  },
  "@theinternetfolks/snowflake": async () => {
    const { Snowflake } = await import("@theinternetfolks/snowflake");
    return {
      make: () => Snowflake.generate({ shard_id: 77 }),
      decode: (text) => {
        const { timestamp, shard_id: machine, sequence } = Snowflake.parse(text);
        return { mintedAt: timestamp, machine, sequence };
      },
      known: { machine: 77 },
      read: (text) => Snowflake.isValid(text),
    };
  },
  "node-snowflake": async () => {
    const { Snowflake } = await import("node-snowflake");
    Snowflake.init({ worker_id: 9, data_center_id: 7, sequence: 0 });
    return { make: () => Snowflake.nextId(), known: { datacenter: 7, worker: 9 } };
  },
  "snowflake-generator": async () => {
    const { Generator } = await import("snowflake-generator");
    const generator = new Generator(undefined, 77);
    return {
      make: () => generator.generate().toString(),
      decode: (text) => {
        const { timestamp, shard_id: shard, increment } = generator.deconstruct(text);
        return { mintedAt: timestamp, shard, sequence: increment };
      },
      known: { shard: 77 },
      read: (text) => generator.deconstruct(text).timestamp > 0,
    };
  },
  snowyflake: async () => {
    const { Snowyflake, Epoch } = await import("snowyflake");
    const snowflake = new Snowyflake({ epoch: Epoch.Twitter, workerId: 7n, processId: 9n });
    return {
      make: () => snowflake.nextId().toString(),
      decode: (text) => {
        const { timestamp, workerId, processId, sequence } = snowflake.deconstruct(BigInt(text));
        return { mintedAt: timestamp, datacenter: workerId, worker: processId, sequence };
      },
      known: { datacenter: 7, worker: 9 },
      read: (text) => snowflake.deconstruct(BigInt(text)).timestamp > TWITTER_MS,
    };
  },
  snowfall: async () => {
    const { default: Snowfall } = await import("snowfall");
    const snowflake = new Snowfall({ workerID: 7n, processID: 9n });
    return {
      make: () => snowflake.next().toString(),
      decode: (text) => {
        const { timestamp, workerId, processId, interval } = snowflake.deconstruct(text);
        return { mintedAt: timestamp, datacenter: workerId, worker: processId, sequence: interval };
      },
      known: { datacenter: 7, worker: 9 },
      read: (text) => snowflake.deconstruct(text).timestamp > 0,
    };
  },
  snowflakify: async () => {
    const { default: Snowflakify } = await import("snowflakify");
    const snowflake = new Snowflakify();
    return {
      make: () => snowflake.nextId().toString(),
      decode: (text) => {
        const [mintedAt, datacenter, worker, sequence] = snowflake.destructure(text).map(({ value }) => value);
        return { mintedAt, datacenter, worker, sequence };
      },
      read: (text) => snowflake.destructure(text).length === 4,
    };
  },
  "sonyflake at its default": async () => sonyflake(),
  "sonyflake from Discord's epoch": async () => sonyflake("DISCORD"),
  "simple-flakeid": async () => {
    const { SnowflakeIdv1 } = await import("simple-flakeid");
    const snowflake = new SnowflakeIdv1({ workerId: 7 });
    return { make: () => String(snowflake.NextId()), known: { worker: 7 } };
  },
  "flake-idgen": async () => {
    const { default: FlakeId } = await import("flake-idgen");
    const generator = new FlakeId({ datacenter: 7, worker: 9 });
    return { make: () => generator.next().readBigUInt64BE().toString(), known: { datacenter: 7, worker: 9 } };
  },
  simpleflakes: async () => {
    const { simpleflake, parseSimpleflake } = (await import("simpleflakes")).default;
    return {
      make: () => simpleflake().toString(),
      decode: (text) => {
        const { timestamp, randomBits } = parseSimpleflake(text);
        return { mintedAt: timestamp, random: randomBits };
      },
      read: (text) => parseSimpleflake(text).timestamp > 0,
    };
  },
  "uuid-int": async () => {
    const { default: uuidInt } = await import("uuid-int");
    const generator = uuidInt(77);
    return { make: () => String(generator.uuid()), known: { instance: 77 } };
  },
  itemid: async () => {
    const { default: ItemId } = await import("itemid");
    ItemId.setMachineId(77);
    return {
      make: () => ItemId.newId(),
      decode: (text) => {
        const id = new ItemId(text);
        return { mintedAt: id.getTimestamp(), counter: id.getCounterValue(), machine: id.getMachineId() };
      },
      known: { machine: 77 },
      read: (text) => ItemId.test(text),
    };
  },
  "tsid-ts": async () => tsid((id) => id.toString()),
  "tsid-ts decimal": async () => tsid((id) => id.toBigInt().toString()),
  "uniku tsid": async () => {
    const { tsid: make } = await import("uniku/tsid");
    return {
      make: () => make().toString(),
      decode: (text) => ({ mintedAt: make.timestamp(BigInt(text)) }),
      read: (text) => make.isValid(BigInt(text)),
    };
  },
  "@atproto/common-web": async () => {
    const { TID } = (await import("@atproto/common-web")).default;
    return {
      make: () => TID.nextStr(),
      decode: (text) => ({ mintedAt: TID.fromStr(text).timestamp() / 1000, clock: TID.fromStr(text).clockid() }),
      read: (text) => TID.is(text),
    };
  },
  "@atcute/tid": async () => {
    const tid = await import("@atcute/tid");
    return {
      make: () => tid.now(),
      decode: (text) => ({ mintedAt: tid.parse(text).timestamp / 1000, clock: tid.parse(text).clockid }),
      read: (text) => tid.validate(text),
    };
  },
};

async function sonyflake(epoch) {
  const { Sonyflake, Epoch } = await import("sonyflake");
  const snowflake = new Sonyflake({ machineId: 77, ...(epoch && { epoch: Epoch[epoch] }) });
  return {
    make: () => snowflake.nextId(),
    decode: (text) => {
      const { timestamp, machineId, sequence } = snowflake.decompose(text);
      return { mintedAt: timestamp, machine: machineId, sequence };
    },
    known: { machine: 77 },
    read: (text) => snowflake.decompose(text).timestamp > 0,
  };
}

async function tsid(format) {
  const { getTsid, TSID } = await import("tsid-ts");
  const read = (text) => (text.length === 13 ? TSID.fromString(text) : new TSID(BigInt(text)));
  return {
    make: () => format(getTsid()),
    decode: (text) => ({ mintedAt: read(text).timestamp, random: read(text).random }),
    read: (text) => format(read(text)) === text,
  };
}
