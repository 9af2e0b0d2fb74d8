import { execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packAll } from "./packed.ts";
import { openRegistry } from "./registry.ts";

/**
 * The image of a project, built and run without a container engine: debootstrap makes the base, buildah the image, and its command
 * runs as process 1 of namespaces of its own, with the rights that compose.yaml leaves it. It takes some three minutes. Skipped,
 * with a note, where root or a tool is missing.
 */

const TOOLS = ["buildah", "debootstrap", "unshare", "nsenter", "chroot", "ip"];
const missing = TOOLS.filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const canRun = process.platform === "linux" && process.getuid?.() === 0 && missing.length === 0;
if (!canRun) console.log(`note: the image is not built: ${missing.join(", ") || "it needs root on Linux"}`);

const BASE = "docker.io/library/node:24-bookworm-slim";
const run = promisify(execFile);

describe.skipIf(!canRun)("the image of a project", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-image-"));
  const at = (...names: readonly string[]) => join(folder, ...names);
  const buildah = async (command: string, ...args: readonly string[]) => {
    const storage = ["--root", at("storage"), "--runroot", at("run"), "--storage-driver", "vfs"];
    const policy = ["from", "bud", "commit", "push"].includes(command) ? ["--signature-policy", at("policy.json")] : [];
    const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
    const { stdout } = await run("buildah", [...storage, command, ...policy, ...args], { env, maxBuffer: 2 ** 26 });
    return stdout.trim();
  };
  let root = "";
  let config: { Entrypoint: string[]; Healthcheck: { Test: string[] }; User: string; Volumes: object; Env: string[] };

  /** Debian with Node and npm, as the official image has them, and this machine's certificates for its registry. */
  async function makeBase(registry: string) {
    await run("debootstrap", ["--variant=minbase", "bookworm", at("base")], { maxBuffer: 2 ** 26 });
    const npm = dirname(dirname(realpathSync((await run("sh", ["-c", "command -v npm"])).stdout.trim())));
    cpSync(process.execPath, at("base/usr/local/bin/node"));
    cpSync(npm, at("base/usr/local/lib/node_modules/npm"), { recursive: true });
    for (const name of ["npm", "npx"])
      await run("ln", ["-s", `../lib/node_modules/npm/bin/${name}-cli.js`, at("base/usr/local/bin", name)]);
    const certificates = process.env["NODE_EXTRA_CA_CERTS"] ?? "/etc/ssl/certs/ca-certificates.crt";
    cpSync(realpathSync(certificates), at("base/usr/local/share/registry.pem"));
    const container = await buildah("from", "scratch");
    await buildah("add", "--quiet", container, at("base"), "/");
    const env = [`npm_config_registry=${registry}`, "NODE_EXTRA_CA_CERTS=/usr/local/share/registry.pem"];
    await buildah("config", ...env.flatMap((one) => ["--env", one]), container);
    await buildah("commit", "--quiet", "--rm", container, BASE);
  }

  async function makeProject(version: string, registry: string) {
    cpSync("src/package/templates/own-servers", at("project"), { recursive: true });
    cpSync("routing-table.json", at("project/routing-table.json"));
    writeFileSync(at("project/.env"), "ADMIN_TOKENS=secret");
    const dependencies = { waybill: version };
    writeFileSync(
      at("project/package.json"),
      JSON.stringify({ name: "edge", private: true, type: "module", dependencies }),
    );
    await run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--registry", registry], {
      cwd: at("project"),
    });
  }

  beforeAll(async () => {
    writeFileSync(at("policy.json"), '{"default": [{"type": "insecureAcceptAnything"}]}');
    const packages = packAll(at("packed"));
    await using registry = await openRegistry();
    registry.hold(packages);
    await makeBase(registry.url);
    await makeProject(packages[0]?.manifest.version ?? "", registry.url);
    const options = ["--format", "docker", "--pull-never", "--network", "host"];
    await buildah("bud", ...options, "--tag", "edge", at("project"));
    config = JSON.parse(await buildah("inspect", "--type", "image", "edge")).Docker.config;
    root = await buildah("mount", await buildah("from", "--pull-never", "localhost/edge"));
  }, 1_200_000);

  afterAll(async () => {
    await buildah("umount", "--all").catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  });

  it("has what runs and nothing else of the project", async () => {
    const { stdout } = await run("ls", ["-A", join(root, "app")]);
    expect(stdout.trim().split("\n").sort()).toEqual(["build", "node_modules"]);
    expect(config.User).toBe("10001:10001");
    expect(Object.keys(config.Volumes)).toEqual(["/var/lib/waybill"]);
    expect(config.Healthcheck.Test[0]).toBe("CMD");
  });

  it("serves as process 1 without rights on a read-only root, is healthy, and ends by SIGTERM", async () => {
    const state = at("state");
    mkdirSync(state);
    await run("chown", ["10001:10001", state]);
    chmodSync(state, 0o700);
    const script = `
      set -e
      ip link set lo up
      mount --bind "$0" "$0"
      mount --bind "${state}" "$0/var/lib/waybill"
      mount -t tmpfs tmpfs "$0/tmp"
      mount -t proc proc "$0/proc"
      mount --rbind /dev "$0/dev"
      mount -o remount,ro,bind "$0"
      cd /
      exec chroot "$0" setpriv --reuid=10001 --regid=10001 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \\
        sh -c 'cd /app && exec "$@"' sh "$@"`;
    const own = ["--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];
    const served = spawn("unshare", [...own, "sh", "-c", script, root, ...config.Entrypoint], {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NODE_ENV: "production" },
    });
    const lines: string[] = [];
    for (const stream of [served.stdout, served.stderr]) stream.on("data", (chunk) => lines.push(String(chunk)));
    const ended = new Promise<number | null>((resolve) => served.once("exit", resolve));
    const untilMs = Date.now() + 60_000;
    while (!lines.join("").includes("ready http://0.0.0.0:8080")) {
      if (Date.now() > untilMs || served.exitCode !== null) throw new Error(lines.join(""));
      await delay(200);
    }
    const { stdout: children } = await run("cat", [`/proc/${served.pid}/task/${served.pid}/children`]);
    const pid = children.trim();
    const inside = (command: readonly string[]) => {
      const into = ["--target", pid, "--net", "--pid", "--mount", "--root", "--wd"];
      const args = [
        ...into,
        "setpriv",
        "--reuid=10001",
        "--regid=10001",
        "--clear-groups",
        "sh",
        "-c",
        'cd /app && exec "$@"',
        "sh",
      ];
      return spawnSync("nsenter", [...args, ...command], { encoding: "utf8" });
    };
    try {
      const startMs = performance.now();
      const health = inside(config.Healthcheck.Test.slice(1));
      console.log(`health check: ${Math.round(performance.now() - startMs)} ms`);
      expect([health.status, health.stderr]).toEqual([0, ""]);
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(/^NSpid:.*\t1$/m);
      expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
      expect(status).toMatch(/^Cap(?:Eff|Prm|Bnd):\t0{16}$/m);
      expect(inside(["sh", "-c", "echo > /app/a || echo > /a"]).stderr).toMatch(/Read-only file system/);
      expect(inside(["sh", "-c", "echo > /tmp/a && ls /var/lib/waybill"]).stdout).toContain("kv");
    } finally {
      process.kill(Number(pid), "SIGTERM");
    }
    expect([await ended, lines.join("")]).toEqual([0, expect.not.stringContaining("cut off")]);
  });
});
