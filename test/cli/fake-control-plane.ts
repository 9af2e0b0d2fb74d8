import { createHash } from "node:crypto";
import type { Runtime } from "../../src/cli/runtime.ts";
import { loadTable } from "../../src/routing/index.ts";
import { measureTable } from "../../src/routing/load.ts";
import type { RuntimeOptions } from "./fake-runtime.ts";

/** A request as the control plane got it. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

interface Kept {
  readonly revision: number;
  readonly text: string;
  readonly kind: string;
  readonly note: string;
  readonly basedOn: number | undefined;
  readonly audience?: object;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | object;
}

/** Answers in place of the control plane, for one path. An error is the end of the connection. */
export type Override = (asked: Asked) => Reply | Error | undefined;

export interface FakeControlPlane {
  /** For a command that is to reach it as an operator. */
  readonly access: Required<Pick<RuntimeOptions, "env" | "fetch">>;
  readonly asked: Asked[];
  readonly revisions: Kept[];
  canary: (Kept & { readonly audience: object }) | undefined;
  override: Override | undefined;
}

export const GATEWAY_URL = "http://gateway.localhost";
const TOKEN = "operator-token";
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** The gateway's pages under `/-/table`, in memory, behind a `fetch` of their own. They keep to the wire format of `routes/table*.ts`. */
export const fakeControlPlane = (table: object): FakeControlPlane => {
  const text = JSON.stringify(table);
  const fetch: Runtime["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    const { method, headers } = request;
    const asked = { method, url: request.url.slice(GATEWAY_URL.length), headers, body: await request.text() };
    plane.asked.push(asked);
    const reply = plane.override?.(asked) ?? answer(plane, asked);
    if (reply instanceof Error) throw reply;
    const { status = 200, body } = reply;
    const type = status >= 400 ? "application/problem+json" : "application/json";
    const isSent = typeof body === "string" || body instanceof ReadableStream;
    return new Response(isSent ? body : `${JSON.stringify(body)}\n`, {
      status,
      headers: { "content-type": type, ...reply.headers },
    });
  };
  const plane: FakeControlPlane = {
    access: { env: { WAYBILL_GATEWAY: GATEWAY_URL, WAYBILL_TOKEN: TOKEN }, fetch },
    asked: [],
    revisions: [{ revision: 1, text, kind: "publish", note: "", basedOn: 0 }],
    canary: undefined,
    override: undefined,
  };
  return plane;
};

export const problem = (status: number, slug: string, detail: string, members: object = {}): Reply => ({
  status,
  body: { type: `/-/problems/${slug}`, title: slug, status, detail, ...members },
});

const answer = (plane: FakeControlPlane, asked: Asked): Reply => {
  if (asked.headers.get("authorization") !== `Bearer ${TOKEN}`) {
    return problem(401, "unauthenticated", "The request has no credential that counts.");
  }
  const { pathname, searchParams } = new URL(asked.url, GATEWAY_URL);
  const last = plane.revisions.at(-1) as Kept;
  const numbered = /^\/-\/table\/revisions\/(\d+)$/.exec(pathname)?.[1];
  if (numbered !== undefined) {
    const found = listedBy(plane).find(({ revision }) => revision === Number(numbered));
    return found === undefined
      ? problem(404, "unknown-revision", `Revision ${numbered} is not available: there is none.`)
      : textOf(found);
  }
  switch (`${asked.method} ${pathname}`) {
    case "GET /-/table":
      return textOf(last);
    case "GET /-/table/revisions":
    case "GET /-/table/audit": {
      const before = Number(searchParams.get("before") ?? Number.POSITIVE_INFINITY);
      const listed = listedBy(plane)
        .filter(({ revision }) => revision < before)
        .toReversed();
      const page = listed.slice(0, Number(searchParams.get("limit")));
      return pathname.endsWith("audit")
        ? { body: { entries: page.map(auditOf) } }
        : { body: { revisions: page.map(shown) } };
    }
    case "GET /-/table/status":
      return { body: statusOf(plane, last) };
    case "GET /-/table/capacity": {
      const uses = measureTable(JSON.parse(last.text), last.text.length);
      return { body: uses.ok ? uses.value : {} };
    }
    case "GET /-/ready":
      return {
        headers: { "waybill-table": `rev=${last.revision}; source=memory; age=3` },
        body: { status: "ready", canary: canaryOf(plane) },
      };
    case "POST /-/table/check":
      return faultsOf(asked.body) ?? { body: { faults: [] } };
    default:
      return change(plane, pathname, asked, last);
  }
};

/** The canary that runs is a revision too; one that was aborted is forgotten here. */
const listedBy = ({ revisions, canary }: FakeControlPlane): readonly Kept[] =>
  canary === undefined ? revisions : [...revisions, canary];

const change = (plane: FakeControlPlane, pathname: string, asked: Asked, last: Kept): Reply => {
  const expected = Number(/^"(\d+)"$/.exec(asked.headers.get("if-match") ?? "")?.[1]);
  const current = plane.canary?.revision ?? last.revision;
  if (expected !== current) {
    const detail = `Revision ${current} is in force, and the request was made for revision ${expected}.`;
    return problem(412, "stale-revision", detail, { expected, current });
  }
  const next = { revision: current + 1, basedOn: expected };
  const { to, table, note: said = "", ...audience } = pathname === "/-/table" ? {} : JSON.parse(asked.body);
  const note = pathname === "/-/table" ? decodeURIComponent(asked.headers.get("waybill-note") ?? "") : said;
  if (pathname === "/-/table/abort") {
    plane.canary = undefined;
    return { body: shown(last) };
  }
  if (pathname === "/-/table/canary") {
    plane.canary = { ...next, kind: "canary", text: JSON.stringify(table), note, audience };
    return { status: 201, body: shown(plane.canary) };
  }
  const old = plane.revisions.find(({ revision }) => revision === to);
  const [kind, text] =
    pathname === "/-/table/promote"
      ? ["promote", plane.canary?.text]
      : pathname === "/-/table/rollback"
        ? ["rollback", old?.text]
        : ["publish", asked.body];
  if (text === undefined) return problem(404, "unknown-revision", "There is none.");
  const faults = faultsOf(text);
  if (faults !== undefined) return faults;
  const made = { ...next, kind, text, note };
  plane.revisions.push(made);
  plane.canary = undefined;
  return { status: 201, body: shown(made) };
};

const faultsOf = (text: string): Reply | undefined => {
  const loaded = loadTable(JSON.parse(text), 1);
  if (loaded.ok) return undefined;
  return problem(422, "invalid-table", `The table has ${loaded.error.length} faults.`, { faults: loaded.error });
};

const textOf = ({ revision, text }: Kept): Reply => ({
  headers: { etag: `"${revision}"`, "waybill-revision": String(revision), "waybill-digest": digestOf(text) },
  body: text,
});

const TIME = "2026-11-21T12:00:00.000Z";

const shown = ({ revision, text, kind, note, basedOn, audience }: Kept) => ({
  revision,
  digest: digestOf(text),
  bytes: text.length,
  author: "ann",
  time: TIME,
  note,
  kind,
  basedOn,
  audience,
});

const auditOf = ({ revision, kind, note, audience }: Kept) => ({
  id: revision,
  time: TIME,
  author: "ann",
  action: kind,
  revision,
  outcome: "done",
  note,
  audience,
});

const canaryOf = ({ canary }: FakeControlPlane) =>
  canary === undefined ? null : { revision: canary.revision, digest: digestOf(canary.text), ...canary.audience };

const statusOf = (plane: FakeControlPlane, { revision, text }: Kept) => {
  const digest = digestOf(text);
  const canary = canaryOf(plane);
  return {
    controlPlane: { revision, digest, time: TIME },
    kv: { revision, digest, canary, checkedAt: TIME },
    isolate: { revision, source: "memory", ageSeconds: 3, digest, canary },
    pending: false,
    lastError: null,
    canary,
  };
};
