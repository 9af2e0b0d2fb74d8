import type { ProblemsOf } from "../problems/feature.ts";
import { type CreateError, createProblems } from "./create/problems.ts";
import { type DirectoryError, directoryProblems } from "./directory/problems.ts";
import { type IdempotencyKeyError, idempotencyProblems } from "./idempotency/problems.ts";
import { type ListError, listProblems } from "./lists/problems.ts";
import { mintProblems, type SequenceError } from "./mint/problems.ts";
import { type PackError, packProblems } from "./packs/problems.ts";
import { type PlaceError, placeProblems } from "./places/problems.ts";
import { type PublicIdsError, publicIdProblems } from "./public-ids/problems.ts";

/** Errors of features. */
export type FeatureError =
  | CreateError
  | DirectoryError
  | IdempotencyKeyError
  | ListError
  | SequenceError
  | PackError
  | PlaceError
  | PublicIdsError;

/** The problem of each: one that is missing is an error of types. */
export const FEATURE_PROBLEMS: ProblemsOf<FeatureError> = {
  ...createProblems,
  ...directoryProblems,
  ...idempotencyProblems,
  ...listProblems,
  ...mintProblems,
  ...packProblems,
  ...placeProblems,
  ...publicIdProblems,
};
