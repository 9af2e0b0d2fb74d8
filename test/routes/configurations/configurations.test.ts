import { createExecutionContext, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { checkTable } from "../../../src/routing/index.ts";
import { problemOf, setUp } from "../harness.ts";
import { CONFIGURATIONS, type ConfiguredRequest } from "./configurations.ts";

const { DIRECTORY } = env as Env;

beforeEach(() => reset());

/** The members of `POST /-/explain` that say where a request goes. */
interface Explained {
  readonly region?: string;
  readonly source?: string;
  readonly ids?: readonly { readonly layout: string; readonly place: string }[];
  readonly problem?: { readonly detail?: string };
}

/** `GET us.example.com/x {cookie: a=b}`. */
const nameOf = ({ method = "GET", host, target, headers = [] }: ConfiguredRequest, ownHost: string): string =>
  `${method} ${host ?? ownHost}${target} ${headers.map((pair) => pair.join(": ")).join(", ")}`.trim();

describe.each(Object.entries(CONFIGURATIONS))("%s", (_, { table, requests }) => {
  const start = async () => {
    const truth = durableDirectory(DIRECTORY);
    for (const [directory, keys] of Object.entries(requests.directory ?? {})) {
      for (const [key, region] of Object.entries(keys)) {
        await truth.register({ directory, key, owner: "1", operation: "test", region });
      }
    }
    return setUp({ declared: table });
  };

  it("sends each request where the original sends it, and refuses what it refuses", async () => {
    const { app, seen, defects } = await start();
    const wrong: string[] = [];
    for (const request of requests.requests) {
      const { method = "GET", target, host = requests.host, headers = [], to, refused } = request;
      const before = seen.length;
      const answer = await app.fetch(
        new Request(`http://${host}${target}`, { method, headers: headers as [string, string][] }),
        env,
        createExecutionContext(),
      );
      const [origin] = seen.slice(before);
      const found =
        origin === undefined
          ? `refused: ${(await problemOf(answer.clone()).catch(() => ({ type: String(answer.status) }))).type}`
          : `${origin.method} ${origin.url}`;
      const wanted =
        to === undefined ? "refused: " : `${method} https://${to}.internal.example.com${request.seen ?? target}`;
      const isRight =
        refused === undefined ? found === wanted && answer.status === 200 : found.startsWith("refused: /-/problems/");
      if (!isRight) wrong.push(`${nameOf(request, requests.host)}: ${found}, not ${wanted}`);
    }
    expect(wrong).toEqual([]);
    expect(defects).toEqual([]);
  });

  it("is explained as it is decided", async () => {
    const { app } = await start();
    const wrong: string[] = [];
    for (const request of requests.requests) {
      const { method = "GET", target, host = requests.host, headers = [], to } = request;
      const body = JSON.stringify({ method, url: `http://${host}${target}`, headers: Object.fromEntries(headers) });
      const asked = new Request(`http://gw.test/-/explain`, { method: "POST", body });
      const explained: Explained = await (await app.fetch(asked, env, createExecutionContext())).json();
      const said = explained.region ?? explained.problem?.detail ?? "";
      const why = [explained.source ?? "", ...(explained.ids ?? []).map(({ layout, place }) => `${layout} ${place}`)];
      const isRight = to === undefined ? explained.problem !== undefined : explained.region === to;
      if (!isRight) wrong.push(`${nameOf(request, requests.host)}: ${said}, not ${to}`);
      if (said === "" || /undefined|NaN|\[object/.test(said + why.join())) wrong.push(`${said} ${why.join()}`);
    }
    expect(wrong).toEqual([]);
  });

  it("is a table without faults", () => {
    expect(checkTable(table)).toMatchObject({ ok: true });
  });

  it("has requests of each region, and says either where a request goes or why it is refused", () => {
    const { regions } = table as { readonly regions: object };
    expect(new Set(requests.requests.flatMap(({ to }) => to ?? []))).toEqual(new Set(Object.keys(regions)));
    for (const { to, refused } of requests.requests) expect([to, refused].filter(Boolean)).toHaveLength(1);
    const names = requests.requests.map((request) => nameOf(request, requests.host));
    expect(new Set(names).size).toBe(names.length);
  });
});
