import { bigOf, hexOf } from "./reading.mjs";

/** Libraries of UUIDs in RFC 9562's text and in others. See run.mjs for what a driver is. */

export const uuids = {
  "uuid v1": async () => {
    const { v1, validate, version } = await import("uuid");
    const node = [1, 2, 3, 4, 5, 6];
    return {
      make: () => v1({ node, clockseq: 0x123 }),
      known: { node: 0x010203040506, clockSequence: 0x123 },
      read: (text) => validate(text) && version(text) === 1,
    };
  },
  "uuid v3": async () => named(3),
  "uuid v4": async () => random(4),
  "uuid v5": async () => named(5),
  "uuid v6": async () => {
    const { v6, validate, version } = await import("uuid");
    return {
      make: () => v6({ node: [1, 2, 3, 4, 5, 6], clockseq: 0x123 }),
      known: { node: 0x010203040506, clockSequence: 0x123 },
      read: (text) => validate(text) && version(text) === 6,
    };
  },
  "uuid v7": async () => random(7),
  uuidv7: async () => {
    const { uuidv7, UUID } = await import("uuidv7");
    return { make: uuidv7, uuid: (text) => UUID.parse(text).toHex() };
  },
  "@kripod/uuidv7": async () => {
    const { uuidv7 } = await import("@kripod/uuidv7");
    return { make: uuidv7 };
  },
  "uuidv7-js": async () => {
    const { uuidv7, decodeUUIDv7, encodeUUIDv7, UUIDv7 } = await import("uuidv7-js");
    return {
      make: () => encodeUUIDv7(uuidv7()),
      decode: (text) => ({ mintedAt: UUIDv7.timestamp(decodeUUIDv7(text)) }),
      read: (text) => decodeUUIDv7(text) ?? false,
    };
  },
  ui7: async () => {
    const { v7, timestamp } = await import("ui7");
    return { make: () => v7(), decode: (text) => ({ mintedAt: timestamp(text) }), read: (text) => timestamp(text) > 0 };
  },
  "uniku uuid/v7": async () => {
    const { uuidv7 } = await import("uniku/uuid/v7");
    return { make: () => uuidv7(), read: (text) => uuidv7.isValid(text) };
  },
  "uuid-random": async () => {
    const { default: uuid } = await import("uuid-random");
    return { make: uuid, read: uuid.test };
  },
  "@lukeed/uuid": async () => {
    const { v4 } = await import("@lukeed/uuid");
    return { make: v4 };
  },
  "uuidjs v4": async () => {
    const { UUID } = await import("uuidjs");
    return { make: UUID.generate, uuid: (text) => UUID.parse(text).hexNoDelim };
  },
  "uuidjs v1": async () => {
    const { UUID } = await import("uuidjs");
    return timed(() => UUID.genV1().toString(), UUID);
  },
  "uuidjs v6": async () => {
    const { UUID } = await import("uuidjs");
    return timed(() => UUID.genV6().toString(), UUID);
  },
  "pure-uuid v1": async () => {
    const { default: UUID } = await import("pure-uuid");
    return { make: () => new UUID(1).format(), uuid: (text) => new UUID().parse(text).format("b16") };
  },
  "pure-uuid v4": async () => {
    const { default: UUID } = await import("pure-uuid");
    return { make: () => new UUID(4).format(), uuid: (text) => new UUID().parse(text).format("b16") };
  },
  "uuid-1345 v1": async () => {
    const { default: uuid } = await import("uuid-1345");
    return {
      make: () => uuid.v1({ mac: "01:02:03:04:05:06", clockSeq: 0x123 }),
      known: { node: 0x010203040506, clockSequence: 0x123 },
      read: (text) => uuid.check(text) !== false,
    };
  },
  "uuid-1345 v4": async () => {
    const { default: uuid } = await import("uuid-1345");
    return {
      make: () => uuid.v4(),
      uuid: (text) => uuid.parse(text).toString("hex"),
      read: (text) => uuid.check(text).version === 4,
    };
  },
  "uuid-with-v6": async () => {
    const { v6 } = await import("uuid-with-v6");
    return { make: () => v6() };
  },
  "id128 Uuid1": async () => id128("Uuid1"),
  "id128 Uuid4": async () => id128("Uuid4"),
  "id128 Uuid6": async () => id128("Uuid6"),
  "id128 Ulid": async () => id128("Ulid"),
  "uuid-js": async () => {
    const { default: UUID } = await import("uuid-js");
    return { make: () => UUID.create(1).toString() };
  },
  uuidv4: async () => {
    const { uuid, isUuid } = await import("uuidv4");
    return { make: () => uuid(), read: isUuid };
  },
  "uuid-by-string": async () => {
    const { default: uuid } = await import("uuid-by-string");
    return numbered((name) => uuid(name));
  },
  uuid5: async () => {
    const { default: uuid } = await import("uuid5");
    return numbered((name) => uuid(name));
  },
  uuidv1: async () => {
    const { default: uuid } = await import("uuidv1");
    return { make: () => uuid() };
  },
  uuid1: async () => {
    const { UUID1 } = await import("uuid1");
    return { make: () => UUID1() };
  },
  "node-uuid": async () => {
    const { default: uuid } = await import("node-uuid");
    return {
      make: () => uuid.v1({ node: [1, 2, 3, 4, 5, 6], clockseq: 0x123 }),
      known: { node: 0x010203040506, clockSequence: 0x123 },
      read: (text) => uuid.unparse(uuid.parse(text)) === text,
    };
  },
  "cassandra-driver": async () => {
    const { default: cassandra } = await import("cassandra-driver");
    const { TimeUuid } = cassandra.types;
    return {
      make: () => TimeUuid.now().toString(),
      decode: (text) => ({
        mintedAt: TimeUuid.fromString(text).getDate().getTime(),
        node: BigInt(`0x${TimeUuid.fromString(text).getNodeId().toString("hex")}`),
      }),
      read: (text) => TimeUuid.fromString(text).toString(),
    };
  },
  slugid: async () => {
    const { v4, decode } = await import("slugid");
    return { make: () => v4(), uuid: decode };
  },
  "uuid-base62": async () => {
    const { default: base62 } = await import("uuid-base62");
    return { make: () => base62.v4(), uuid: (text) => base62.decode(text) };
  },
  uuid62: async () => {
    const { default: base62 } = await import("uuid62");
    return { make: () => base62.v4(), uuid: (text) => base62.decode(text) };
  },
  "uuid-base58": async () => {
    const { uuid58, decode } = await import("uuid-base58");
    return { make: () => uuid58(), uuid: (text) => decode(text) };
  },
  uuid58: async () => {
    const { encode, decode } = await import("uuid58");
    const { randomUUID } = await import("node:crypto");
    return { make: () => encode(randomUUID()), uuid: (text) => decode(text) };
  },
  "@nakanoaas/uuid58": async () => {
    const { uuid58, uuid58Decode } = await import("@nakanoaas/uuid58");
    return { make: () => uuid58(), uuid: (text) => uuid58Decode(text) };
  },
  "uuid-base64": async () => translator("uuid-base64"),
  "uuid-d64": async () => translator("uuid-d64"),
  "uuid-encoder": async () => {
    const { default: UuidEncoder } = await import("uuid-encoder");
    const { randomUUID } = await import("node:crypto");
    const encoder = new UuidEncoder();
    return { make: () => encoder.encode(randomUUID()), uuid: (text) => encoder.decode(text) };
  },
  uuid64: async () => {
    const { default: uuid64 } = await import("uuid64");
    return { make: () => uuid64() };
  },
  "small-uuid": async () => {
    const { create, toHex } = await import("small-uuid");
    return { make: () => create(), uuid: (text) => toHex(text) };
  },
  id62: async () => {
    const module = await import("id62");
    const id62 = module.default.default ?? module.default;
    return { make: () => id62() };
  },
  "short-uuid": async () => {
    const { default: short } = await import("short-uuid");
    const translate = short.createTranslator();
    return { make: () => translate.generate(), uuid: (text) => translate.toUUID(text) };
  },
  "short-uuid uuid25Base36": async () => {
    const { default: short } = await import("short-uuid");
    const translate = short.createTranslator(short.constants.uuid25Base36);
    return { make: () => translate.generate(), uuid: (text) => translate.toUUID(text) };
  },
  uuid25: async () => {
    const { Uuid25 } = await import("uuid25");
    const { randomUUID } = await import("node:crypto");
    return {
      make: () => Uuid25.parse(randomUUID()).value,
      uuid: (text) => Uuid25.parseUuid25(text).toHyphenated(),
    };
  },
  "uuid-apikey": async () => {
    const { default: keys } = await import("uuid-apikey");
    return {
      make: () => keys.create().apiKey,
      decode: (text) => ({ random: randomOf(keys.toUUID(text)) }),
      read: (text) => keys.isAPIKey(text),
    };
  },
  guid: async () => {
    const { default: Guid } = await import("guid");
    return { make: () => Guid.raw(), read: (text) => Guid.isGuid(text) };
  },
  "guid-typescript": async () => {
    const { Guid } = await import("guid-typescript");
    return { make: () => Guid.create().toString(), read: (text) => Guid.isGuid(text) };
  },
  "js-guid": async () => {
    const { Guid } = await import("js-guid");
    return { make: () => Guid.newGuid().toString(), read: (text) => Guid.isValid(text) };
  },
  aguid: async () => {
    const { default: aguid } = await import("aguid");
    return { make: () => aguid() };
  },
  "sequential-guid": async () => {
    const { default: SequentialGuid } = await import("sequential-guid");
    const guids = new SequentialGuid();
    return { make: () => guids.next() };
  },
  "sequential-uuid": async () => {
    const { default: SequentialUuid } = await import("sequential-uuid");
    const uuids = new SequentialUuid();
    return { make: () => uuids.generate() };
  },
  "seq-uuid": async () => {
    const { default: uuid } = await import("seq-uuid");
    return { make: () => uuid(), atMake: () => ({ interval: Math.floor(Date.now() / 60_000) % 65_536 }) };
  },
  "ordered-uuid": async () => {
    const { generate } = (await import("ordered-uuid")).default;
    return { make: () => generate() };
  },
  "innodb-optimized-uuid": async () => {
    const { generate } = (await import("innodb-optimized-uuid")).default;
    return { make: () => generate() };
  },
  "monotonic-id": async () => {
    const { default: MonotonicId } = await import("monotonic-id");
    return {
      make: () => new MonotonicId({ node: [1, 2, 3, 4, 5, 6], clockseq: 0x123 }).toID(),
      known: { node: 0x010203040506, clockSequence: 0x123 },
      read: (text) => MonotonicId.isID(text) && new MonotonicId(undefined, text).toString("hex"),
    };
  },
  cuuid: async () => {
    const { default: cuuid } = await import("cuuid");
    return { make: () => cuuid() };
  },
  "uuid-timestamp": async () => {
    const { default: stamped } = await import("uuid-timestamp");
    return { make: () => stamped.uuidEmit() };
  },
};

/** The 122 random bits of a UUID of version 4. */
function randomOf(uuid) {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`)
    .toString(2)
    .padStart(128, "0");
  return BigInt(`0b${bits.slice(0, 48)}${bits.slice(52, 64)}${bits.slice(66)}`);
}

async function random(version) {
  const uuid = await import("uuid");
  return {
    make: () => uuid[`v${version}`](),
    uuid: (text) => hexOf(uuid.parse(text)),
    read: (text) => uuid.validate(text) && uuid.version(text) === version,
  };
}

async function named(version) {
  const uuid = await import("uuid");
  const namespace = uuid[`v${version}`].URL;
  return {
    ...numbered((name) => uuid[`v${version}`](name, namespace)),
    uuid: (text) => hexOf(uuid.parse(text)),
    read: (text) => uuid.validate(text) && uuid.version(text) === version,
  };
}

/** IDs of the names "1", "2", … */
function numbered(make) {
  let number = 0;
  return { make: () => make(`${++number}`) };
}

/** uuidjs has the fields of every version as numbers. */
function timed(make, UUID) {
  return {
    make,
    decode: (text) => {
      const { node, clockSeqHiAndReserved, clockSeqLow } = UUID.parse(text).intFields;
      return { node, clockSequence: ((clockSeqHiAndReserved & 0x3f) << 8) | clockSeqLow };
    },
    read: (text) => UUID.parse(text) !== null,
  };
}

async function id128(name) {
  const { [name]: Type } = (await import("id128")).default;
  const fieldsOf = (id) => {
    if (name === "Uuid4") return { bits: bigOf(id.bytes) };
    if (name === "Ulid") return { mintedAt: id.time.getTime(), random: bigOf(id.bytes.slice(6)) };
    const { time, node, clock_sequence: clockSequence, hires_time: hires } = id;
    return { mintedAt: time.getTime(), node: bigOf(node), clockSequence, hires };
  };
  return {
    make: () => Type.generate().toCanonical(),
    decode: (text) => fieldsOf(Type.fromCanonical(text)),
    read: (text) => Type.fromCanonical(text).toCanonical(),
  };
}

async function translator(name) {
  const { encode, decode } = (await import(name)).default;
  const { randomUUID } = await import("node:crypto");
  return { make: () => encode(randomUUID()), uuid: (text) => decode(text) };
}
