import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeControlPlane } from "../cli/fake-control-plane.ts";
import { objectsOf } from "../cli/fake-runtime.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { shell, tableFolder, waybill } from "./command.ts";

/** Facts that only the real process shows: its streams, signals, exit codes and files. All else runs on a fake runtime. */

const ORDER = "01990f04-d900-8005-8040-000000000001";

describe.concurrent("the real command", () => {
  it("runs as npm installs it, on any Node that npm runs on", () => {
    const bin = fileURLToPath(new URL("../../src/cli/waybill.mjs", import.meta.url));
    const args = [bin, "mint", "--entity", "ride", "--country", "XX"];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: tableFolder(), encoding: "utf8" });
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    expect(stderr).toBe('error: The routing table has no country "XX". It has: KZ, BR, DE, AQ.\n');
  });

  it("prints its help to stdout", async () => {
    const { stdout, stderr, code } = await waybill(["table", "--help"]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toMatch(/^Usage: waybill table /);
  });

  it("ends without a word when the reader has seen enough", async () => {
    const script = `for i in $(seq 3000); do echo ${ORDER}; done | { "$NODE" "$MAIN" explain --json; echo "code $?" >&2; } | head -n 1`;
    const { stdout, stderr } = await shell(script, tableFolder());
    expect(objectsOf(stdout)).toHaveLength(1);
    expect(stderr).toBe("code 0\n");
  });

  it.each([
    { env: { FORCE_COLOR: "1" }, isColoured: true },
    { env: { NO_COLOR: "1" }, isColoured: false },
  ])("colours as $env says", async ({ env, isColoured }) => {
    const { stdout } = await waybill(["explain", ORDER], { cwd: tableFolder(), env });
    expect(stdout.includes("\u001b[32mcountry\u001b[39m")).toBe(isColoured);
    expect(stdout.includes("\u001b")).toBe(isColoured);
  });

  it("says in the system's words what cannot be read, with the whole path", async () => {
    const cwd = tableFolder();
    const absent = await waybill(["table", "check", "absent.json"], { cwd });
    expect(absent).toMatchObject({ stdout: "", code: 1 });
    expect(absent.stderr).toMatch(
      /^error: absent\.json cannot be read: no such file or directory \(\/.*\/absent\.json\)\n$/,
    );
    const folder = await waybill(["table", "check", "/"], { cwd });
    expect(folder.stderr).toContain("error: / cannot be read: illegal operation on a directory\n");
    const log = ["/", "--old", "routing-table.json", "--new", "routing-table.json"];
    const { stderr } = await waybill(["table", "replay", ...log], { cwd });
    expect(stderr).toBe("error: / cannot be read: it is a folder\n");
  });

  it("reads stdin and writes files, in folders that it makes", async () => {
    const cwd = tableFolder();
    const args = ["table", "pack", "-", "--layout", "hotguid"];
    const { stdout, code } = await waybill(args, { cwd, stdin: "0,999,us\n" });
    expect(code).toBe(0);
    expect(readdirSync(`${cwd}/packs`)).toEqual([`${JSON.parse(stdout).sha256}.pack`]);
  });
});

describe("the real command at a gateway", () => {
  /** The fake control plane on a port. What `isHeld` says is begun to be answered, and never ended. */
  const serve = async (isHeld: (method: string) => boolean, onHeld: () => void) => {
    const { access } = fakeControlPlane(DECLARED_TABLE);
    const server = createServer(async (request, response) => {
      const { method = "", url = "" } = request;
      if (isHeld(method)) {
        response.writeHead(200).flushHeaders();
        onHeld();
        return;
      }
      const headers = new Headers(request.headers as Record<string, string>);
      const answer = await access.fetch(access.env["WAYBILL_GATEWAY"] + url, { method, headers });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { ...access.env, WAYBILL_GATEWAY: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  const publish = ["table", "publish", "routing-table.json"];
  const cwd = tableFolder({ ...DECLARED_TABLE, default: "us" });

  it("asks nobody where nobody is", async () => {
    const env = await serve(
      () => false,
      () => undefined,
    );
    const { stderr, code } = await waybill(publish, { cwd, env });
    expect(stderr).toContain("error: not a terminal; pass --yes to confirm\n");
    expect(code).toBe(64);
  });

  it("says on Ctrl-C that the change may have been made, and ends as shells expect", async () => {
    const interrupt = new AbortController();
    const env = await serve(
      (method) => method === "PUT",
      () => interrupt.abort(),
    );
    const { stderr, code } = await waybill([...publish, "--yes"], { cwd, env, interrupt: interrupt.signal });
    expect(stderr).toMatch(/\nthe change was in progress and may still be made\. .*`waybill table history`.*\n$/);
    expect(code).toBe(130);
  });
});
