import { Agent, request } from "node:http";

/** Where an edge listens. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export interface Asking {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly deadlineMs: number;
}

export interface Answered {
  /** 0 if no answer came. */
  readonly status: number;
  /** Status, with the problem's type or the system's code. */
  readonly outcome: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly startedAtMs: number;
  readonly ms: number;
  /** Before a byte of an answer came, the connection was refused, reset or closed: a proxy in front would ask the next edge. */
  readonly isUnreached: boolean;
}

const agent = new Agent({ keepAlive: true });
const UNREACHED = ["ECONNREFUSED", "ECONNRESET", "EPIPE"];

export function ask(target: Target, asking: Asking, isFirst = true): Promise<Answered> {
  const { host, port } = target;
  const { method, path, headers = {}, body, deadlineMs } = asking;
  const startedAtMs = Date.now();
  const startMs = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, outcome: string, rest: Partial<Answered> = {}) => {
      clearTimeout(deadline);
      const ms = performance.now() - startMs;
      resolve({ status, outcome, headers: {}, body: "", startedAtMs, ms, isUnreached: false, ...rest });
    };
    const content =
      body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(
      { host, port, method, path, agent: isFirst && agent, headers: { ...content, ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", () => end(0, "cut"));
        answer.on("end", () => {
          const read = Buffer.concat(chunks).toString();
          const status = answer.statusCode ?? 0;
          end(status, outcomeOf(status, answer.headers["content-type"], read), { headers: answer.headers, body: read });
        });
      },
    );
    const deadline = setTimeout(() => {
      end(0, "deadline");
      sent.destroy();
    }, deadlineMs);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const code = error.code ?? error.message;
      // workerd closes an idle connection after 5 s, and a request may cross that (RFC 9112 §9.3.1): every client sends it again.
      if (sent.reusedSocket && UNREACHED.includes(code) && isFirst) {
        clearTimeout(deadline);
        resolve(ask(target, asking, false));
        return;
      }
      end(0, code, { isUnreached: UNREACHED.includes(code) });
    });
    sent.end(body);
  });
}

function outcomeOf(status: number, type: string | undefined, body: string): string {
  if (status < 400 || type !== "application/problem+json") return String(status);
  const problem = JSON.parse(body) as { readonly type?: string };
  return `${status} ${problem.type?.split("/").at(-1) ?? ""}`;
}

/** As a proxy in front of the edges does: an edge that cannot be reached is passed over for the next. */
export async function askOneOf(targets: readonly Target[], first: number, asking: Asking): Promise<Answered> {
  let last: Answered | undefined;
  for (let turn = 0; turn < targets.length; turn++) {
    last = await ask(targets[(first + turn) % targets.length] as Target, asking);
    if (!last.isUnreached) return last;
  }
  return last ?? noTargets();
}

const noTargets = (): never => {
  throw new RangeError("no edges were named");
};
