import { bigOf } from "./reading.mjs";

/** ULID, KSUID, TypeID, XID, ObjectId, push IDs, CUID and others that sort by time. See run.mjs for what a driver is. */

const oneArgument = (module) => module.default ?? module;

export const sortable = {
  ulid: async () => ulidLike("ulid"),
  ulidx: async () => ulidLike("ulidx"),
  "@kiosked/ulid": async () => ulidLike("@kiosked/ulid"),
  "ulid-workers": async () => {
    const { ulidFactory, decodeTime } = await import("ulid-workers");
    const make = ulidFactory();
    return { make, decode: (text) => ({ mintedAt: decodeTime(text) }), read: (text) => decodeTime(text) > 0 };
  },
  "ulid-uuid-converter": async () => {
    const { ULIDtoUUID, UUIDtoULID } = await import("ulid-uuid-converter");
    const { ulid, decodeTime } = await import("ulid");
    return {
      make: () => ULIDtoUUID(ulid()),
      decode: (text) => ({ mintedAt: decodeTime(UUIDtoULID(text)) }),
      read: (text) => UUIDtoULID(text),
    };
  },
  "uniku ulid": async () => {
    const { ulid } = await import("uniku/ulid");
    return {
      make: () => ulid(),
      decode: (text) => ({ mintedAt: ulid.timestamp(text) }),
      read: (text) => ulid.isValid(text),
    };
  },
  "@thi.ng/ksuid ULID": async () => thing("defULID", "random"),
  "@thi.ng/ksuid KSUID32": async () => thing("defKSUID32", "random"),
  "@thi.ng/ksuid KSUID64": async () => thing("defKSUID64", "random"),
  "@prefactor/pfid": async () => {
    const { generate, decode, isPfid, extractPartition } = await import("@prefactor/pfid");
    return {
      make: () => generate(77),
      decode: (text) => {
        const bytes = decode(text);
        return {
          mintedAt: bigOf(bytes.subarray(0, 6)),
          partition: extractPartition(text),
          random: bigOf(bytes.subarray(10)),
        };
      },
      known: { partition: 77 },
      read: isPfid,
    };
  },
  ksuid: async () => {
    const { default: Ksuid } = await import("ksuid");
    return {
      make: () => Ksuid.randomSync().string,
      decode: (text) => {
        const { date, payload } = Ksuid.parse(text);
        return { mintedAt: date.getTime(), random: bigOf(payload) };
      },
      read: (text) => Ksuid.parse(text).string,
    };
  },
  "ksuid in hex": async () => {
    const { default: Ksuid } = await import("ksuid");
    const parse = (text) => new Ksuid(Buffer.from(text, "hex"));
    return {
      make: () => Ksuid.randomSync().raw.toString("hex"),
      decode: (text) => ({ mintedAt: parse(text).date.getTime(), random: bigOf(parse(text).payload) }),
      read: (text) => parse(text).string,
    };
  },
  xksuid: async () => {
    const { generate, parse } = await import("xksuid");
    return {
      make: () => generate(),
      decode: (text) => ({ mintedAt: parse(text).ts.getTime(), random: bigOf(parse(text).rnd) }),
      read: (text) => parse(text).ts > 0,
    };
  },
  "uniku ksuid": async () => {
    const { ksuid } = await import("uniku/ksuid");
    return {
      make: () => ksuid(),
      decode: (text) => ({ mintedAt: ksuid.timestamp(text) }),
      read: (text) => ksuid.isValid(text),
    };
  },
  "@langwatch/ksuid": async () => {
    const { generate, parse } = await import("@langwatch/ksuid");
    return {
      make: () => generate("user").toString(),
      decode: (text) => {
        const id = parse(text);
        return {
          mintedAt: id.timestamp * 1000,
          scheme: id.instance.scheme,
          instance: bigOf(id.instance.identifier),
          sequence: id.sequenceId,
        };
      },
      read: (text) => parse(text).toString(),
    };
  },
  "typeid-js": async () => {
    const { typeid, TypeID } = await import("typeid-js");
    return { make: () => typeid("user").toString(), uuid: (text) => TypeID.fromString(text, "user").toUUID() };
  },
  "typeid-ts": async () => {
    const { typeid, decodeFromString } = await import("typeid-ts");
    return { make: () => typeid("user"), uuid: (text) => decodeFromString(text).uuid };
  },
  "uniku typeid": async () => {
    const { typeid } = await import("uniku/typeid");
    return { make: () => typeid("user"), read: (text) => typeid.isValid(text) };
  },
  "xid-ts": async () => {
    const { Xid } = await import("xid-ts");
    return {
      make: () => new Xid().toString(),
      decode: (text) => {
        const id = Xid.parse(text);
        return {
          mintedAt: id.timestamp() * 1000,
          machine: bigOf(id.machine()),
          process: id.pid(),
          counter: id.counter(),
        };
      },
      read: (text) => Xid.parse(text).toString(),
    };
  },
  "uniku xid": async () => {
    const { xid } = await import("uniku/xid");
    return { make: () => xid(), read: (text) => xid.isValid(text) };
  },
  "xid-js": async () => {
    const { default: xid } = await import("xid-js");
    return { make: () => xid.next() };
  },
  bson: async () => {
    const { ObjectId } = await import("bson");
    return objectId(
      () => new ObjectId().toHexString(),
      (text) => new ObjectId(text).getTimestamp(),
      ObjectId.isValid,
    );
  },
  mongoose: async () => {
    const { ObjectId } = (await import("mongoose")).default.Types;
    return objectId(
      () => new ObjectId().toString(),
      (text) => new ObjectId(text).getTimestamp(),
      ObjectId.isValid,
    );
  },
  "bson-objectid": async () => {
    const { default: ObjectID } = await import("bson-objectid");
    return objectId(
      () => ObjectID().toHexString(),
      (text) => ObjectID(text).getTimestamp(),
      ObjectID.isValid,
    );
  },
  objectid: async () => {
    const { default: ObjectId } = await import("objectid");
    return objectId(
      () => ObjectId().toString(),
      (text) => ObjectId(text).getTimestamp(),
      ObjectId.isValid,
    );
  },
  "mongo-objectid": async () => {
    const { default: ObjectID } = await import("mongo-objectid");
    return objectId(
      () => new ObjectID().toString(),
      (text) => new ObjectID(text).getDate(),
      (text) => new ObjectID(text).isValid(),
    );
  },
  "isomorphic-mongo-objectid": async () => {
    const { default: ObjectID } = await import("isomorphic-mongo-objectid");
    return objectId(
      () => new ObjectID().toString(),
      (text) => new ObjectID(text).getDate(),
      (text) => new ObjectID(text).toString() === text,
    );
  },
  "@tybys/oid": async () => {
    const { ObjectId } = await import("@tybys/oid");
    return objectId(
      () => new ObjectId().toHexString(),
      (text) => new ObjectId(text).getTimestamp(),
      ObjectId.isValid,
    );
  },
  mdbid: async () => ({ make: oneArgument(await import("mdbid")) }),
  "timestamp-objectid": async () => {
    const { default: fromTime } = await import("timestamp-objectid");
    return { make: () => String(fromTime(new Date())), known: { process: 0, counter: 0 } };
  },
  "@tadashi/hex-id": async () => {
    const { default: hexId } = await import("@tadashi/hex-id");
    return { make: () => hexId() };
  },
  "mongoid-js": async () => {
    const { mongoid, parse } = (await import("mongoid-js")).default;
    const decode = (text) => {
      const { timestamp, machineid, pid, sequence } = parse(text);
      return { mintedAt: timestamp * 1000, process: (BigInt(machineid) << 16n) | BigInt(pid), counter: sequence };
    };
    return { make: () => mongoid(), decode, read: (text) => decode(text).mintedAt > 0 };
  },
  "uniku objectid": async () => {
    const { objectid } = await import("uniku/objectid");
    return { make: () => objectid(), read: (text) => objectid.isValid(text) };
  },
  scru128: async () => {
    const { scru128, Scru128Id } = await import("scru128");
    return {
      make: () => scru128().toString(),
      decode: (text) => {
        const { timestamp, counterHi, counterLo, entropy } = Scru128Id.fromString(text);
        return { mintedAt: timestamp, counterHi, counterLo, random: entropy };
      },
      read: (text) => Scru128Id.fromString(text).toString(),
    };
  },
  "firebase-key": async () => {
    const key = await import("firebase-key");
    return {
      make: () => key.key(),
      decode: (text) => ({ mintedAt: key.milliseconds(text) }),
      read: (text) => key.milliseconds(text) > 0,
    };
  },
  pushid: async () => ({ make: oneArgument(await import("pushid")) }),
  "firebase-auto-ids": async () => {
    const { Generator } = (await import("firebase-auto-ids")).default;
    const generator = new Generator();
    return { make: () => generator.generate(Date.now()) };
  },
  cuid: async () => {
    const { default: cuid } = await import("cuid");
    return { make: () => cuid(), read: cuid.isCuid };
  },
  "@bugsnag/cuid": async () => {
    const { default: cuid } = await import("@bugsnag/cuid");
    return { make: () => cuid(), read: cuid.isCuid };
  },
  scuid: async () => ({ make: oneArgument(await import("scuid")) }),
};

async function ulidLike(name) {
  const { ulid, decodeTime } = await import(name);
  return {
    make: () => ulid(),
    decode: (text) => ({ mintedAt: decodeTime(text) }),
    read: (text) => decodeTime(text) > 0,
  };
}

async function thing(make, rest) {
  const ids = (await import("@thi.ng/ksuid"))[make]();
  return {
    make: () => ids.next(),
    decode: (text) => ({ mintedAt: ids.parse(text).epoch, [rest]: bigOf(ids.parse(text).id) }),
    read: (text) => ids.parse(text).id.length > 0,
  };
}

function objectId(make, dateOf, read) {
  return { make, decode: (text) => ({ mintedAt: new Date(dateOf(text)).getTime() }), read };
}
