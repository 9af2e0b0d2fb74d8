import type { Caller } from "./admin.ts";

/** The console: a page at a host of its own, and the sessions of its users. */
export interface ConsolePort {
  /** As declared, with or without a port. */
  readonly host: string;
  /** The name of the environment, if it has one. */
  readonly environment: string | undefined;
  isAt(host: string): boolean;
  /** A file of its build; `undefined` where there is no build. */
  file(name: string): Promise<Response> | undefined;
  /** `set-cookie` of a new session; `undefined` for a caller without a token. */
  openSession(caller: Caller): Promise<string | undefined>;
  /** The same of one that was used, when it is due. */
  renewSession(caller: Caller): Promise<string | undefined>;
  /** Whether it may show an entity. */
  mayPreview(entity: string): boolean;
}

/** Reads a session's caller from the `cookie` header, at the console's host. */
export interface ConsoleSessions extends Pick<ConsolePort, "isAt"> {
  read(cookies: string): Promise<Caller | undefined>;
}
