import { fileURLToPath } from "node:url";
import type { Host } from "../hosts/host.ts";

/** Work in a process of its own on a host, called by messages. Arguments and results are plain data. */
export interface Agent<Calls> {
  readonly pid: number;
  readonly call: <Name extends keyof Calls & string>(
    name: Name,
    ...args: ArgumentsOf<Calls[Name]>
  ) => ResultOf<Calls[Name]>;
}

// biome-ignore lint/suspicious/noExplicitAny: a bound that takes every function
type AnyCall = (...args: any[]) => unknown;
type ArgumentsOf<Call> = Call extends AnyCall ? Parameters<Call> : never;
type ResultOf<Call> = Call extends AnyCall ? Promise<Awaited<ReturnType<Call>>> : never;

interface Asked {
  readonly number: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

interface Told {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: string;
}

export function startAgent<Calls>(host: Host, file: URL): Agent<Calls> {
  const child = host.start([process.execPath, "--disable-warning=ExperimentalWarning", fileURLToPath(file)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const open = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let calls = 0;
  child.on("message", ({ number, value, error }: Told) => {
    if (error === undefined) open.get(number)?.resolve(value);
    else open.get(number)?.reject(new Error(`${file.pathname}: ${error}`));
    open.delete(number);
  });
  child.once("exit", () => {
    for (const { reject } of open.values()) reject(new Error(`${file.pathname} has ended`));
  });
  const call = (name: string, ...args: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      calls += 1;
      open.set(calls, { resolve, reject });
      const asked: Asked = { number: calls, name, args };
      child.send(asked, (error) => error && reject(error));
    });
  return { pid: child.pid ?? 0, call: call as unknown as Agent<Calls>["call"] };
}

/** In the process: it answers until its parent ends. */
export function answerCalls(calls: Readonly<Record<string, AnyCall>>): void {
  const tell = (told: Told) => process.send?.(told);
  process.on("message", ({ number, name, args }: Asked) => {
    Promise.resolve()
      .then(() => calls[name]?.(...args))
      .then(
        (value) => tell({ number, value }),
        (error: unknown) =>
          tell({ number, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  process.once("disconnect", () => process.exit());
}
