import { type ParseError, parseTree } from "jsonc-parser";
import { err, ok, type Result } from "../../ids/index.ts";
import { duplicateKey, nearest, parseJson, plainJson } from "../../routing/index.ts";

export type Role = "edge" | "state";

export const ROLES: readonly Role[] = ["edge", "state"];

type Kind = "text" | "list" | "number";

interface Member {
  readonly kind: Kind;
  /** Roles that have it. */
  readonly of: readonly Role[];
  /** Not on a command line, which others see. */
  readonly isInFileOnly?: true;
  /** A path, which is relative to the folder of the file that names it. */
  readonly isPath?: true;
}

const BOTH = ROLES;
const EDGE: readonly Role[] = ["edge"];
const STATE: readonly Role[] = ["state"];

/** Options of `waybill serve --role`, by their names in the file. On the command line they have dashes. */
export const MEMBERS = {
  role: { kind: "text", of: BOTH },
  name: { kind: "text", of: EDGE },
  state: { kind: "text", of: BOTH, isPath: true },
  listen: { kind: "text", of: BOTH },
  processes: { kind: "number", of: EDGE },
  stateNodes: { kind: "list", of: EDGE },
  stateTls: { kind: "text", of: BOTH, isPath: true },
  stateListen: { kind: "text", of: STATE },
  bucket: { kind: "text", of: STATE },
  bucketOptions: { kind: "list", of: STATE },
  clusterAddr: { kind: "text", of: STATE },
  clusterAdvertise: { kind: "text", of: STATE },
  clusterKeyFile: { kind: "text", of: STATE, isPath: true },
  peers: { kind: "list", of: STATE },
  table: { kind: "text", of: STATE, isPath: true },
  stopTimeout: { kind: "number", of: BOTH },
  otlpTraces: { kind: "text", of: BOTH },
  unsafeTimeDivisor: { kind: "number", of: STATE, isInFileOnly: true },
} as const satisfies Readonly<Record<string, Member>>;

export type MemberName = keyof typeof MEMBERS;

type ValueOf<Name extends MemberName> = {
  readonly text: string;
  readonly list: readonly string[];
  readonly number: number;
}[(typeof MEMBERS)[Name]["kind"]];

/** Values of the right kinds, from wherever they came. */
export type Members = { readonly [Name in MemberName]?: ValueOf<Name> | undefined };

export interface Given {
  readonly members: Members;
  /** How an operator wrote a member: `--state-listen`, or `stateListen in edge.json`. */
  readonly labelOf: (name: MemberName) => string;
  readonly role: Role;
}

export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const NAMES = Object.keys(MEMBERS) as MemberName[];
const isMember = (name: string): name is MemberName => Object.hasOwn(MEMBERS, name);

/** The file's text and its path; relative paths in it start at `folder`. */
export interface MachineFile {
  readonly path: string;
  readonly text: string;
  readonly resolve: (path: string) => string;
}

/** Joins a command line and a file, where the command line wins. The errors are sentences for the operator. */
export function readMembers(flags: Members, file: MachineFile | undefined): Result<Given, readonly string[]> {
  const inFile = file === undefined ? ok({}) : membersOf(file);
  if (!inFile.ok) return inFile;
  const onLine = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Members;
  const members: Members = { ...inFile.value, ...onLine };
  const labelOf = (name: MemberName): string =>
    onLine[name] !== undefined || file === undefined ? flagOf(name) : `${name} in ${file.path}`;
  const { role } = members;
  if (role !== "edge" && role !== "state") return err([noRole(role, members, file, labelOf)]);
  const foreign = NAMES.filter((name) => members[name] !== undefined && !isOf(name, role));
  if (foreign.length > 0) {
    const [other] = ROLES.filter((each) => each !== role);
    return err(
      foreign.map((name) => `${labelOf(name)} belongs to the role ${other}, and the role is ${role}: leave it out`),
    );
  }
  return ok({ members, labelOf, role });
}

const isOf = (name: MemberName, role: Role): boolean => (MEMBERS[name].of as readonly Role[]).includes(role);

function noRole(
  role: string | undefined,
  members: Members,
  file: MachineFile | undefined,
  labelOf: Given["labelOf"],
): string {
  if (role !== undefined) {
    const near = nearest(role, ROLES);
    return `${labelOf("role")}: ${JSON.stringify(role)} is no role; ${near === undefined ? "write edge or state" : `write ${near}`}`;
  }
  if (file !== undefined) return `${file.path} has no role: write "role": "edge" or "role": "state"`;
  const name = NAMES.find((each) => members[each] !== undefined) ?? "role";
  return `${flagOf(name)} needs --role ${MEMBERS[name].of.join(" or ")}`;
}

function membersOf(file: MachineFile): Result<Members, readonly string[]> {
  const plain = plainJson(file.text);
  const value = parseJson(plain);
  if (value === undefined) {
    return err([`${file.path} is no JSON on line ${faultyLine(plain)}: correct it (comments are allowed)`]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return err([`${file.path} must hold a JSON object, such as {"role": "edge"}`]);
  const twice = duplicateKey(plain);
  if (twice !== undefined) return err([`${file.path} has ${JSON.stringify(twice)} twice: remove one`]);
  const faults: string[] = [];
  const members: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    if (name === "$schema") continue;
    const fault = isMember(name) ? kindFault(MEMBERS[name].kind, given) : unknownName(name);
    if (fault !== undefined) faults.push(`${name} in ${file.path} ${fault}`);
    else members[name] = isMember(name) ? resolved(name, given, file.resolve) : given;
  }
  return faults.length > 0 ? err(faults) : ok(members);
}

/** The first one, from 1. Where a comma or a brace is missing, that of what follows. */
function faultyLine(text: string): number {
  const faults: ParseError[] = [];
  parseTree(text, faults);
  return text.slice(0, faults[0]?.offset ?? 0).split("\n").length;
}

/** Paths of a file start at its folder. */
function resolved(name: MemberName, given: unknown, resolve: MachineFile["resolve"]): unknown {
  if (name === "bucketOptions") return (given as readonly string[]).map((text) => resolveOption(text, resolve));
  return "isPath" in MEMBERS[name] ? resolve(given as string) : given;
}

/** The option of a bucket that is a path. */
export const CREDENTIALS_FILE = "aws_credentials_file";

export function resolveOption(text: string, resolve: MachineFile["resolve"]): string {
  const prefix = `${CREDENTIALS_FILE}=`;
  return text.startsWith(prefix) ? prefix + resolve(text.slice(prefix.length)) : text;
}

function unknownName(name: string): string {
  const near = nearest(
    name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    NAMES,
  );
  return `is no option of serve --role; ${near === undefined ? `there are ${NAMES.join(", ")}` : `write ${near}`}`;
}

const EXPECTED = {
  text: 'must be a text, such as "a"',
  list: 'must be a list of texts, such as ["a", "b"]',
  number: "must be a whole number",
};

function kindFault(kind: Kind, value: unknown): string | undefined {
  const isText = (each: unknown) => typeof each === "string" && each !== "";
  const isRight =
    kind === "text"
      ? isText(value)
      : kind === "number"
        ? Number.isInteger(value)
        : Array.isArray(value) && value.length > 0 && value.every(isText);
  return isRight ? undefined : `${EXPECTED[kind]}`;
}
