import { describe, expect, it } from "vitest";
import type { StateRpc } from "../../../src/edge/machines/rpc.ts";

/** A state node as an edge's calls find it. A real one becomes `gone` when its process dies, and `frozen` when nothing arrives. */
export interface TransportUnderTest {
  readonly rpc: Pick<StateRpc, "ping" | "call">;
  become(state: "well" | "gone" | "frozen"): Promise<void>;
  /** The value of work, or `undefined` after a time. Its errors are values. */
  settled(work: Promise<unknown>, ms: number): Promise<unknown>;
}

/** Answers to what the adapter of edges builds on: a fake of a state node that its tests use is held to them, as real ones are. */
export function describeTransport(name: string, make: () => Promise<TransportUnderTest>): void {
  const reserve = ({ rpc }: TransportUnderTest, method = "reserve") =>
    rpc.call("SEQUENCES", "contract", method, [1, 1e9]);
  const SOON_MS = 5_000;

  describe(`the transport of ${name}`, () => {
    it("answers a ping, and a call with plain data", async () => {
      const node = await make();
      await node.become("well");
      expect(await node.settled(node.rpc.ping(), SOON_MS)).toBe("done");
      expect(await node.settled(reserve(node), SOON_MS)).toMatchObject({ isReserved: true });
    });

    it("fails a call that its object fails, and goes on answering", async () => {
      const node = await make();
      await node.become("well");
      expect(await node.settled(reserve(node, "nothing"), SOON_MS)).toBeInstanceOf(Error);
      expect(await node.settled(node.rpc.ping(), SOON_MS)).toBe("done");
    });

    it("fails at once where there is no node", async () => {
      const node = await make();
      await node.become("gone");
      expect(await node.settled(node.rpc.ping(), SOON_MS)).toBeInstanceOf(Error);
      expect(await node.settled(reserve(node), SOON_MS)).toBeInstanceOf(Error);
    });

    it("says nothing where nothing arrives", async () => {
      const node = await make();
      await node.become("frozen");
      const both = [node.settled(node.rpc.ping(), 1_000), node.settled(reserve(node), 1_000)];
      expect(await Promise.all(both)).toEqual([undefined, undefined]);
    });

    it("answers again when the node is back", async () => {
      const node = await make();
      for (const state of ["gone", "well", "frozen", "well"] as const) await node.become(state);
      // The connection from before may fail once.
      await node.settled(node.rpc.ping(), SOON_MS);
      expect(await node.settled(node.rpc.ping(), SOON_MS)).toBe("done");
      expect(await node.settled(reserve(node), SOON_MS)).toMatchObject({ isReserved: true });
    });
  });
}
