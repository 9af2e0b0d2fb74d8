import type { CommandRecord, CommandStore } from "./commands.ts";

/** The duties of a `CommandStore`, as tests for any runner: each throws where a fresh store breaks it. */
export interface CommandStoreRule {
  readonly name: string;
  readonly check: (store: CommandStore<unknown>) => Promise<void>;
}

const record = (attempt: string, more: object = {}): CommandRecord<unknown> => ({
  payload: "ab",
  attempt,
  leaseUntilMs: 1,
  untilMs: 2,
  ...more,
});

const ANSWER = { status: 201, lines: ["é", '"'], none: null, nested: { total: 1.5 } };

export const commandStoreRules: readonly CommandStoreRule[] = [
  {
    name: "gives a step nothing for a command that it has not seen, and returns what the step does",
    async check(store) {
      let seen: unknown = "no call";
      const held = await store.update("order 1", "k", (before) => {
        seen = before;
        return undefined;
      });
      same([seen, held], [undefined, undefined]);
      same(await store.update("order 1", "k", (before) => before), undefined);
    },
  },
  {
    name: "gives a step what the last one has made, answers as they were",
    async check(store) {
      same(await store.update("order 1", "k", () => record("one")), record("one"));
      const done = record("one", { done: { answer: ANSWER } });
      same(await store.update("order 1", "k", (before) => before && { ...before, done: { answer: ANSWER } }), done);
      same(await store.update("order 1", "k", (before) => before), done);
    },
  },
  {
    name: "keeps an answer apart from none",
    async check(store) {
      for (const [key, answer] of [
        ["null", null],
        ["empty", ""],
        ["zero", 0],
        ["false", false],
      ] as const) {
        await store.update("order 1", key, () => record("one", { done: { answer } }));
        same(await store.update("order 1", key, (before) => before), record("one", { done: { answer } }));
      }
    },
  },
  {
    name: "tells entities and keys apart, whatever their characters",
    async check(store) {
      const names = ["", "a", "A", "a ", "a/b", "a\0b", "é", "e\u0301", '["a"]', "a:b", "x".repeat(600)];
      const all = names.flatMap((entity) => names.map((key) => [entity, key] as const));
      for (const [entity, key] of all) await store.update(entity, key, () => record(JSON.stringify([entity, key])));
      for (const [entity, key] of all) {
        const held = await store.update(entity, key, (before) => before);
        same(held?.attempt, JSON.stringify([entity, key]));
      }
    },
  },
  {
    name: "keeps what it had where a step throws",
    async check(store) {
      await store.update("order 1", "k", () => record("one"));
      let thrown: unknown;
      try {
        await store.update("order 1", "k", () => {
          throw new Error("of the step");
        });
      } catch (error) {
        thrown = error;
      }
      same((thrown as Error | undefined)?.message, "of the step");
      same(await store.update("order 1", "k", (before) => before), record("one"));
    },
  },
  {
    name: "lets no two steps of one command see the same record",
    async check(store) {
      const claims = Array.from({ length: 20 }, (_, at) =>
        store.update("order 1", "k", (before) => before ?? record(`${at}`)),
      );
      const attempts = new Set((await Promise.all(claims)).map((held) => held?.attempt));
      same(attempts.size, 1);
    },
  },
];

function same(actual: unknown, wanted: unknown): void {
  const [a, b] = [actual, wanted].map((value) => sorted(value));
  if (a !== b) throw new Error(`expected ${b}, but the store gave ${a}`);
}

/** Members in one order: a store may keep them in another. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : (member ?? null),
  );
