/** IDs that hold no key, and no time at a fixed place. See run.mjs for what a driver is. */

export const opaque = {
  nanoid: async () => {
    const { nanoid } = await import("nanoid");
    return { make: () => nanoid() };
  },
  "@paralleldrive/cuid2": async () => {
    const { createId } = await import("@paralleldrive/cuid2");
    return { make: () => createId() };
  },
  hyperid: async () => {
    const { default: hyperid } = await import("hyperid");
    return { make: hyperid({ urlSafe: true }) };
  },
  "happner-hyperid": async () => {
    const { default: hyperid } = await import("happner-hyperid");
    return { make: hyperid({ urlSafe: true }) };
  },
  shortid: async () => {
    const { default: shortid } = await import("shortid");
    return { make: () => shortid.generate() };
  },
  shortuuid: async () => {
    const { default: ShortUuid } = await import("shortuuid");
    const short = new ShortUuid();
    return { make: () => short.uuid() };
  },
  uniqid: async () => {
    const { default: uniqid } = await import("uniqid");
    return { make: () => uniqid() };
  },
  uid: async () => {
    const { uid } = await import("uid");
    return { make: () => uid(16) };
  },
  puid: async () => {
    const { default: Puid } = await import("puid");
    const puid = new Puid();
    return { make: () => puid.generate() };
  },
  yeast: async () => {
    const { default: yeast } = await import("yeast");
    return { make: () => yeast() };
  },
  nuid: async () => {
    const { nuid } = await import("nuid");
    return { make: () => nuid.next() };
  },
  "pika-id": async () => {
    const { Pika } = await import("pika-id");
    const pika = new Pika(["user"]);
    return { make: () => pika.gen("user") };
  },
  kuuid: async () => {
    const { id } = await import("kuuid");
    return { make: () => id() };
  },
  yid: async () => {
    const { default: yid } = await import("yid");
    return { make: () => yid() };
  },
  "order-id": async () => {
    const { default: orderId } = await import("order-id");
    const ids = orderId("key");
    return { make: () => ids.generate() };
  },
  eventid: async () => {
    const { default: EventId } = await import("eventid");
    const ids = new (EventId.EventId ?? EventId)();
    return { make: () => ids.new() };
  },
};
