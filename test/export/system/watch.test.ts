import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { stopChild } from "../../../src/host/child.ts";
import { waybill } from "../../system/command.ts";
import { freePort } from "../engines.ts";
import { describeEngines } from "./describe-engines.ts";

const ID = "6347eb00-bbaa-01cc-0201-0203d0000000";

/** Programs with a master, whose new workers take the sockets over; the main file of each. */
const MASTERS = {
  nginx: { file: "nginx.conf", args: (out: string) => ["-p", out, "-c", "nginx.conf", "-g", "daemon off;"] },
  haproxy: { file: "haproxy.cfg", args: (out: string) => ["-W", "-f", join(out, "haproxy.cfg")] },
} as const;

describeEngines(
  (engine) => `waybill export ${engine} --watch`,
  (engine) => {
    const master = MASTERS[engine as keyof typeof MASTERS];
    const folder = mkdtempSync(join(tmpdir(), "waybill-watched-"));
    const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
    afterAll(async () => {
      for (const stop of stops.reverse()) await stop();
    });
    const out = join(folder, "out");
    const kv = join(folder, "state", "kv");
    const program = join(folder, "program");
    for (const path of [kv, program]) mkdirSync(path, { recursive: true });

    const replace = (name: string, text: string) => {
      writeFileSync(join(kv, `${name}.new`), text);
      renameSync(join(kv, `${name}.new`), join(kv, name));
    };
    const publish = (revision: number, table: object, more: object = {}) => {
      const text = JSON.stringify(table);
      const digest = createHash("sha256").update(text).digest("hex");
      replace(`table.${digest}`, text);
      replace("table.current", JSON.stringify({ revision, digest, change: revision, ...more }));
    };
    const origin = async (name: string): Promise<string> => {
      // Longer than any client or engine keeps a connection that is idle.
      const server: Server = createServer({ keepAliveTimeout: 120_000 }, (_, response) => response.end(name));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      stops.push(
        () => server.closeAllConnections(),
        () => server.close(),
      );
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };

    it("is in force for clients that go on, without an error, and leaves a canary to the gateway", async () => {
      const urls = { eu: await origin("eu"), us: await origin("us"), waybill: await origin("waybill") };
      const table = (region: string) => ({
        regions: { eu: { origins: [{ url: urls.eu }] }, us: { origins: [{ url: urls.us }] } },
        entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
        routes: [{ when: { entity: "parcel" }, region }],
      });
      publish(1, table("eu"));
      const port = await freePort();
      const pidFile = join(folder, "pid");
      const interrupt = new AbortController();
      const watching = waybill(
        [
          ...["export", engine, "--published", join(folder, "state"), "--watch", "--out", out, "--state", program],
          ...["--waybill", urls.waybill, "--listen", `127.0.0.1:${port}`],
          // A service manager would do the same.
          ...(engine === "haproxy" ? ["--reload", `kill -USR2 $(cat ${pidFile})`] : []),
        ],
        { interrupt: interrupt.signal },
      );
      stops.push(() => interrupt.abort());
      await expect.poll(() => existsSync(join(out, master.file)), { timeout: 30_000 }).toBe(true);
      const child = spawn(engine, master.args(out), { stdio: "ignore" });
      stops.push(() => stopChild(child));
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      stops.push(() => agent.destroy());
      /** nginx closes idle connections when it reloads: a client asks again then (RFC 9112 section 9.3.1), HAProxy's need not. */
      const mayRepeat = engine === "nginx";
      const used = new WeakSet<object>();
      const ask = (): Promise<string> =>
        new Promise((resolve) => {
          let wasUsed = false;
          const request = get({ agent, host: "127.0.0.1", port, path: `/parcels/${ID}` }, async (response) => {
            let body = "";
            for await (const chunk of response) body += chunk;
            resolve(`${response.statusCode} ${body}`);
          });
          // Not by `reusedSocket`: it is false for a request that waited for a connection and got a kept one.
          request.on("socket", (socket) => {
            wasUsed = used.has(socket);
            used.add(socket);
          });
          request.on("error", (error) => resolve(mayRepeat && wasUsed ? ask() : `${error.message}, used: ${wasUsed}`));
        });
      const answers: string[] = [];
      let isAsking = true;
      const clients = Array.from({ length: 4 }, async () => {
        while (isAsking) {
          answers.push(await ask());
          await delay(2);
        }
      });
      const until = async (answer: string) => {
        await expect.poll(() => answers.at(-1), { timeout: 20_000, interval: 20 }).toBe(answer);
      };
      await until("200 eu");
      // Before it serves, a signal ends it.
      writeFileSync(pidFile, String(child.pid));
      for (let revision = 2; revision <= 7; revision++) {
        const region = revision % 2 === 0 ? "us" : "eu";
        publish(revision, table(region));
        await until(`200 ${region}`);
      }
      publish(7, table("eu"), { change: 8, canary: { revision: 8, digest: "0".repeat(64), audience: { share: 5 } } });
      await until("200 waybill");
      publish(7, table("eu"), { change: 9 });
      await until("200 eu");
      isAsking = false;
      await Promise.all(clients);
      expect(answers.length).toBeGreaterThan(100);
      // Before it listens, the first connections are refused.
      const first = answers.indexOf("200 eu");
      expect(answers.slice(first).filter((answer) => !/^200 (?:eu|us|waybill)$/.test(answer))).toEqual([]);
      // A name that no resolver has: engines look names up when they read their files.
      publish(10, {
        ...table("us"),
        regions: { ...table("us").regions, us: { origins: [{ url: "http://no-such-host.invalid" }] } },
      });
      await expect.poll(ask, { timeout: 20_000 }).toBe("200 waybill");
      publish(11, table("us"));
      await expect.poll(ask, { timeout: 20_000 }).toBe("200 us");
      interrupt.abort();
      const { code, stderr } = await watching;
      expect(code).toBe(130);
      expect(stderr).toMatch(/routes by revision 7, and leaves all to Waybill while a canary of revision 8 is running/);
      expect(stderr).toMatch(
        /refuses the new configuration[\s\S]* leaves all to Waybill\. It is tried again every 5 s\.\n/,
      );
    }, 120_000);
  },
);
