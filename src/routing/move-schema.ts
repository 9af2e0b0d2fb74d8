import * as v from "valibot";
import { name } from "./schema-parts.ts";

/** What the declared table says about single entities: those that left their birth region, are about to, or are no more. */

const epoch = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(1, "An epoch is a whole number from 1 on."),
  v.description("Rises by one with each step of a move and never falls; origins are told it in `waybill-epoch`."),
);

/** One entry of `moved`. */
export const movedSchema = v.union([name, v.strictObject({ region: name, epoch })]);

/** One entry of `moves`. */
export const moveSchema = v.strictObject({
  from: v.pipe(name, v.description("Where the entity is, and where its requests go, whatever the routes say.")),
  to: v.pipe(name, v.description("Where it will be.")),
  state: v.pipe(
    v.picklist(["started", "fenced"]),
    v.description("`fenced`: only reads are passed on, until the move is switched or aborted."),
  ),
  epoch,
});

/** One entry of `gone`. */
export const goneSchema = v.strictObject({ epoch });

export const epochFloorSchema = v.pipe(
  epoch,
  v.description("The highest epoch of the entries that `waybill move finish` dropped: new moves begin above it."),
);

export type DeclaredMoved = v.InferOutput<typeof movedSchema>;
export type DeclaredMove = v.InferOutput<typeof moveSchema>;
export type DeclaredGone = v.InferOutput<typeof goneSchema>;
