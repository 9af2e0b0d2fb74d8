import { err, ok } from "../../../ids/index.ts";
import { pointerTo } from "../../../routing/schema/faults.ts";
import { type Members, objectOf } from "../../lib/json-values.ts";
import { listOf, memberOf } from "./document.ts";
import { createReferences, type LostReference, type References } from "./references.ts";
import { basesOf, isServerUnread, serversOf } from "./servers.ts";

/** A path of an OpenAPI document, as clients of the gateway see it. */
export interface ContractPath {
  /** JSON pointer into the document. */
  readonly pointer: string;
  /** With a base path of its servers: `/v1/orders/{orderId}`. */
  readonly path: string;
  /** Without a query or fragment, which no path has. */
  readonly template: string;
  readonly methods: readonly string[];
  /** Parts that are in other documents, or nowhere: the path may have more methods. */
  readonly unread: readonly Unread[];
  /** Parameters of the path, in path order. */
  readonly parameters: readonly Parameter[];
}

/** `pointer`: of the part, in this document. */
export type Unread = { readonly pointer: string } & LostReference;

export type Parameter = { readonly name: string; readonly format: string | undefined };

/** Why a part of a document is not compared, or not as it stands. */
export type NotReadReason =
  | "webhook"
  | "callback"
  | "path-key"
  | "path-item"
  | "path-query"
  | "server"
  | "segment"
  | "many-segments";

/** `text`: the name, path or URL that stands there. */
export type NotRead = { readonly reason: NotReadReason; readonly pointer: string; readonly text: string };

export interface ContractDocument {
  readonly paths: readonly ContractPath[];
  readonly notRead: readonly NotRead[];
}

/** Fields of a path item that are operations (OpenAPI 3.2, section 4.9). Methods beside these stand in `additionalOperations`. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const OTHERS = "additionalOperations";

/** Where an operation stands in its path item. */
export const operationPointer = (method: string): string => {
  const name = method.toLowerCase();
  return pointerTo(METHODS.includes(name) && method !== name ? [name] : [OTHERS, method]);
};

/** A limit on base paths: each path is checked under each of them. */
const SERVERS_MAX = 100;

/** All paths with operations, each once per base path. The error is a sentence. */
export const pathsOf = (document: Members, origins: readonly string[], given?: string) => {
  const readItem = itemReader(createReferences(document));
  const isCrowded = (owner: Members): boolean => serversOf(owner).length > SERVERS_MAX;
  const notRead: NotRead[] = given === undefined ? [...unreadServers(document, [])] : [];
  const found: ContractPath[] = [];
  const paths = objectOf(memberOf(document, "paths")) ?? {};
  for (const key of Object.keys(paths)) {
    const at = ["paths", key];
    const pointer = pointerTo(at);
    if (!key.startsWith("/")) {
      if (!key.startsWith("x-")) notRead.push({ reason: "path-key", pointer, text: key });
      continue;
    }
    const { item, lost } = readItem(memberOf(paths, key));
    if (item === undefined) {
      notRead.push({ reason: "path-item", pointer, text: key });
      continue;
    }
    const unread = [...(lost === undefined ? [] : [{ pointer, ...lost }]), ...lostParts(item, at)];
    notRead.push(...callbacksOf(item, at));
    if (item.operations.length === 0 && unread.length === 0) continue;
    const owners = [document, item.members, ...item.operations.map(({ operation }) => operation)];
    if (given === undefined) {
      if (owners.some(isCrowded)) {
        return err(`${key} has more than ${SERVERS_MAX} servers; name the base path with --base-path`);
      }
      notRead.push(...unreadServers(item.members, at));
      for (const { place, operation } of item.operations) notRead.push(...unreadServers(operation, [...at, ...place]));
    }
    const template = key.replace(/[?#].*$/s, "");
    if (template !== key) notRead.push({ reason: "path-query", pointer, text: key });
    const { parameters, unread: inParameters } = parametersOf(item, template, at);
    const methods = item.operations.map(({ method }) => method);
    const shared = { pointer, template, methods, unread: [...unread, ...inParameters], parameters };
    const bases = given === undefined ? basesOf(owners, origins) : [given];
    for (const base of bases) found.push({ ...shared, path: base + template });
  }
  return ok<ContractDocument>({ paths: found, notRead: [...notRead, ...webhooksOf(document)] });
};

/** References of a path item that lead out of the document, or nowhere. `at`: the item's place. */
const lostParts = ({ lost }: Item, at: Place): readonly Unread[] =>
  lost.map(({ place, ...reference }) => ({ pointer: pointerTo([...at, ...place]), ...reference }));

const callbacksOf = ({ callbacks }: Item, at: Place): readonly NotRead[] =>
  callbacks.map(({ place, name }) => ({ reason: "callback", pointer: pointerTo([...at, ...place]), text: name }));

const webhooksOf = (document: Members): readonly NotRead[] =>
  ["webhooks", "x-webhooks"].flatMap((part) =>
    Object.keys(objectOf(memberOf(document, part)) ?? {}).map(
      (name): NotRead => ({ reason: "webhook", pointer: pointerTo([part, name]), text: name }),
    ),
  );

const unreadServers = (owner: Members, at: readonly string[]): readonly NotRead[] =>
  serversOf(owner).flatMap((server, index): readonly NotRead[] =>
    isServerUnread(server)
      ? [{ reason: "server", pointer: pointerTo([...at, "servers", index]), text: String(memberOf(server, "url")) }]
      : [],
  );

type Place = readonly (string | number)[];

/** A path item with its references followed. Places are relative to it: several paths may share one. */
interface Item {
  readonly members: Members;
  readonly operations: readonly {
    readonly method: string;
    readonly place: readonly string[];
    readonly operation: Members;
  }[];
  readonly callbacks: readonly { readonly place: readonly string[]; readonly name: string }[];
  readonly lost: readonly ({ readonly place: readonly string[] } & LostReference)[];
  /** The item's, then those of its operations, which override them (OpenAPI 3.1, section 4.8.10). */
  readonly parameters: readonly { readonly place: readonly string[]; readonly list: ParameterList }[];
}

/** The parameters of one list that stand in paths, by name; `unnamed`: their reference leads nowhere. */
interface ParameterList {
  readonly named: ReadonlyMap<
    string,
    { readonly place: Place; readonly format: string | undefined; readonly lost?: LostReference }
  >;
  readonly unnamed: readonly ({ readonly place: Place } & LostReference)[];
}

/** Each item is read once, however many paths name it by a reference or an alias. */
const itemReader = (references: References) => {
  const items = new WeakMap<Members, Item>();
  const lists = new WeakMap<readonly unknown[], ParameterList>();
  const readList = (owner: Members): ParameterList => {
    const list = listOf(memberOf(owner, "parameters"));
    const read = lists.get(list) ?? readParameters(list, references);
    lists.set(list, read);
    return read;
  };
  return (declared: unknown): { readonly item: Item | undefined; readonly lost?: LostReference } => {
    const read = references.follow(declared);
    const own = objectOf(declared);
    const target = read.ok ? read.value : own;
    if (target === undefined) return { item: undefined };
    // Members beside a reference count, too (OpenAPI 3.1, section 4.8.9).
    const isAlone = own === target || own === undefined || Object.keys(own).length === 1;
    const members = isAlone ? target : { ...own, ...target };
    const item = items.get(members) ?? readOperations(members, references, readList);
    items.set(members, item);
    return read.ok ? { item } : { item, lost: read.error };
  };
};

/** The operations of a path item by their methods, which know case (RFC 9110 §9.1), and the parts of it that are elsewhere. */
const readOperations = (
  members: Members,
  references: References,
  readList: (owner: Members) => ParameterList,
): Item => {
  const others = objectOf(memberOf(members, OTHERS)) ?? {};
  const declared = [
    ...METHODS.map((name) => ({ method: name.toUpperCase(), place: [name], value: memberOf(members, name) })),
    ...Object.keys(others).map((method) => ({ method, place: [OTHERS, method], value: memberOf(others, method) })),
  ].filter(({ value }) => value !== undefined);
  const lost: Item["lost"][number][] = [];
  const operations = declared.flatMap(({ method, place, value }) => {
    const read = references.follow(value);
    if (!read.ok) lost.push({ place, ...read.error });
    // The method is there, whatever the operation says.
    const operation = read.ok ? read.value : {};
    return operation === undefined ? [] : [{ method, place, operation }];
  });
  const callbacks = operations.flatMap(({ place, operation }) =>
    Object.keys(objectOf(memberOf(operation, "callbacks")) ?? {}).map((name) => ({
      place: [...place, "callbacks", name],
      name,
    })),
  );
  const parameters = [
    { place: [], list: readList(members) },
    ...operations.map(({ place, operation }) => ({ place, list: readList(operation) })),
  ];
  return { members, operations, callbacks, lost, parameters };
};

/** More references of one list that lead nowhere say nothing new. */
const UNNAMED_MAX = 100;

const readParameters = (list: readonly unknown[], references: References): ParameterList => {
  const named = new Map<string, { place: Place; format: string | undefined; lost?: LostReference }>();
  const unnamed: ParameterList["unnamed"][number][] = [];
  for (const [index, entry] of list.entries()) {
    const place = ["parameters", index];
    const read = references.follow(entry);
    if (!read.ok && unnamed.length < UNNAMED_MAX) unnamed.push({ place, ...read.error });
    const parameter = (read.ok ? read.value : undefined) ?? {};
    const name = memberOf(parameter, "name");
    if (typeof name !== "string" || memberOf(parameter, "in") !== "path") continue;
    const format = references.formatOf(memberOf(parameter, "schema"));
    named.set(name, format.ok ? { place, format: format.value } : { place, format: undefined, lost: format.error });
  }
  return { named, unnamed };
};

/** `unread`: only where a parameter of the path may be meant. */
const parametersOf = ({ parameters: lists }: Item, template: string, at: readonly string[]) => {
  const names = [...template.matchAll(/\{([^{}/]+)\}/g)].map(([, name = ""]) => name);
  const unread: Unread[] = [];
  const unnamed: Unread[] = [];
  const formats = new Map<string, string | undefined>();
  for (const { place, list } of lists) {
    const pointerOf = (inner: Place) => pointerTo([...at, ...place, ...inner]);
    for (const name of names) {
      const found = list.named.get(name);
      if (found === undefined) continue;
      formats.set(name, found.format);
      if (found.lost !== undefined) unread.push({ pointer: pointerOf(found.place), ...found.lost });
    }
    unnamed.push(...list.unnamed.map(({ place: inner, ...lost }) => ({ pointer: pointerOf(inner), ...lost })));
  }
  const parameters = names.map((name): Parameter => ({ name, format: formats.get(name) }));
  return { parameters, unread: names.every((name) => formats.has(name)) ? unread : [...unread, ...unnamed] };
};
