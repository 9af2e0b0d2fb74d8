import { type ProblemsOf, shorten } from "../../problems/feature.ts";
import type { RoutingError } from "../../routing/errors.ts";
import type { KeyUnavailable } from "./table/types.ts";

export type DirectoryError =
  | Extract<RoutingError, { readonly reason: "malformed-key" | "unknown-key" | "directory-unavailable" }>
  | KeyUnavailable
  | KeyError<"key-reserved", { readonly retryAfterSeconds: number }>
  | KeyError<"claim-lost">
  | KeyError<"key-taken">
  | KeyError<"directory-full">
  | { readonly reason: "stale-key"; readonly directory: string; readonly version: number };

type KeyError<Reason extends string, More = unknown> = More & {
  readonly reason: Reason;
  readonly directory: string;
  readonly key: string;
};

export const directoryProblems: ProblemsOf<DirectoryError> = {
  "malformed-key": {
    status: 400,
    title: "Malformed key",
    meaning:
      "The text is no key of its directory: its percent-encoding, its characters or its length are not those of the declared form. No origin was contacted.",
    remedy: "Correct what `detail` names. The routing table declares the form.",
    detail: ({ directory, why }) => `This is no key of the directory "${directory}". ${why}`,
    members: ["directory"],
  },
  "unknown-key": {
    status: 404,
    title: "Unknown key",
    meaning: "The directory has no such key, or its claim is not confirmed yet.",
    remedy: "Check the key. A key that was claimed just now is known after the directory's `absentSeconds`.",
    detail: ({ id, directory }) => `The directory "${directory}" has no key "${shorten(id)}".`,
    members: ["id", "entity", "directory"],
  },
  "key-reserved": {
    status: 409,
    title: "The key is reserved",
    meaning: "Another claim holds the key until its lease ends. Nothing was changed.",
    remedy: "Retry after `retry-after`, or choose another key.",
    detail: ({ key, retryAfterSeconds }) =>
      `"${shorten(key)}" is reserved by another claim for ${retryAfterSeconds} s at most.`,
    members: ["key", "directory"],
  },
  "claim-lost": {
    status: 409,
    title: "The claim does not hold the key",
    meaning: "The key is not reserved by this operation any more: its lease ended, or it was released or taken over.",
    remedy: "Undo what was to be named by the key, or reserve it again.",
    detail: ({ key }) => `"${shorten(key)}" is not reserved by this operation.`,
    members: ["key", "directory"],
  },
  "key-taken": {
    status: 412,
    title: "The key is taken",
    meaning: "The key is confirmed, for another owner or in another region. Nothing was changed.",
    remedy: "Choose another key. A key that is yours is moved by `if-match`.",
    detail: ({ key }) => `"${shorten(key)}" is taken.`,
    members: ["key", "directory"],
  },
  "stale-key": {
    status: 412,
    title: "The key was changed by someone else",
    meaning: "`if-match` does not name the key's current version. Nothing was changed.",
    remedy: "Get the key, and send the change with its `etag`.",
    detail: ({ version }) => `The current version of the key is "${version}".`,
    members: ["version", "directory"],
  },
  "directory-unavailable": {
    status: 503,
    title: "Directory unavailable",
    meaning:
      "No layer of the directory could say where the key is, or too many unknown keys are asked for. The key does not count as absent.",
    remedy: "Retry after `retry-after`. A claim may be sent again as it was.",
    detail: ({ directory, why }) =>
      why === "busy"
        ? `Too many keys of the directory "${directory}" are looked up that no cache has.`
        : why === "unread"
          ? `The directory "${directory}" says where this is, and was not asked.`
          : `The directory "${directory}" did not respond.`,
    members: ["directory"],
  },
  "directory-full": {
    status: 507,
    title: "The directory is full",
    meaning: "The Durable Object of the key has no room for another one. Keys that are there are served and changed.",
    remedy: "Remove keys of the directory, or ask the operator.",
    detail: ({ directory }) => `The directory "${directory}" has no room for this key.`,
    members: ["directory"],
  },
};
