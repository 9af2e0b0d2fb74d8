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
    detail: ({ directory, why }) => `This is no key of the directory "${directory}". ${why}`,
    members: ["directory"],
  },
  "unknown-key": {
    status: 404,
    title: "Unknown key",
    detail: ({ id, directory }) => `The directory "${directory}" has no key "${shorten(id)}".`,
    members: ["id", "entity", "directory"],
  },
  "key-reserved": {
    status: 409,
    title: "The key is reserved",
    detail: ({ key, retryAfterSeconds }) =>
      `"${shorten(key)}" is reserved by another claim for ${retryAfterSeconds} s at most.`,
    members: ["key", "directory"],
  },
  "claim-lost": {
    status: 409,
    title: "The claim does not hold the key",
    detail: ({ key }) => `"${shorten(key)}" is not reserved by this operation.`,
    members: ["key", "directory"],
  },
  "key-taken": {
    status: 412,
    title: "The key is taken",
    detail: ({ key }) => `"${shorten(key)}" is taken.`,
    members: ["key", "directory"],
  },
  "stale-key": {
    status: 412,
    title: "The key was changed by someone else",
    detail: ({ version }) => `The current version of the key is "${version}".`,
    members: ["version", "directory"],
  },
  "directory-unavailable": {
    status: 503,
    title: "Directory unavailable",
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
    detail: ({ directory }) => `The directory "${directory}" has no room for this key.`,
    members: ["directory"],
  },
};
