import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { ownOf } from "../../app/own.ts";
import { type Planned, planEdits, refused } from "./planned.ts";

/** Regions, their origins and weights, and the default. */

export interface NewRegion {
  readonly name: string;
  readonly url: string;
  /** Empty for none. */
  readonly failover: string;
}

export function planRegion(text: string, table: DeclaredTable, { name, url, failover }: NewRegion): Planned {
  const own = name.trim();
  if (own === "") return refused("name", "Give it a name, such as eu2. A name is never used again for something else.");
  if (ownOf(table.regions, own) !== undefined)
    return refused("name", `There is a region ${own} already: choose another name.`);
  if (url.trim() === "")
    return refused("url", "Write the address of its first origin, such as https://eu2.internal.example.com.");
  const value = { origins: [{ url: url.trim() }], ...(failover !== "" && { failover: [failover] }) };
  return planEdits(text, {
    edits: [{ path: ["regions", own], value }],
    fieldOf: (pointer) => (pointer.includes("/origins") ? "url" : pointer.includes("/failover") ? "failover" : "name"),
    notes: [`No ID goes to ${own} before a route leads there.`],
  });
}

export interface NewOrigin {
  readonly region: string;
  readonly url: string;
  /** As typed. */
  readonly weight: string;
}

const WEIGHT_MAX = 1_000_000;

export function planOrigin(text: string, table: DeclaredTable, { region, url, weight }: NewOrigin): Planned {
  const origins = ownOf(table.regions, region)?.origins;
  if (origins === undefined) return refused(undefined, `The draft has no region ${region}.`);
  if (url.trim() === "") return refused("url", "Write its address, such as https://eu-2.internal.example.com.");
  if (origins.some((origin) => origin.url === url.trim())) return refused("url", `${region} has this origin already.`);
  const fault = weightFault(weight);
  if (fault !== undefined) return refused("weight", fault);
  const value = { url: url.trim(), ...(weight.trim() !== "" && { weight: Number(weight) }) };
  return planEdits(text, {
    edits: [{ path: ["regions", region, "origins", origins.length], value, isInsert: true }],
    fieldOf: (pointer) => (pointer.endsWith("/weight") ? "weight" : "url"),
  });
}

const weightFault = (weight: string): string | undefined =>
  /^\d*$/.test(weight.trim()) && Number(weight) <= WEIGHT_MAX
    ? undefined
    : "Write a whole number from 0 to 1,000,000: 0 drains the origin, and an empty field is 1.";

/** By the place of the origin, as typed; an empty one is the default, 1. */
export function planWeights(text: string, table: DeclaredTable, region: string, weights: readonly string[]): Planned {
  const origins = ownOf(table.regions, region)?.origins ?? [];
  const faults = weights.flatMap((weight, at) => {
    const message = weightFault(weight);
    return message === undefined ? [] : [{ field: `weight-${at}`, message }];
  });
  if (faults.length > 0) return { ok: false, faults };
  const asked = origins.map((_, at) => (weights[at]?.trim() ? Number(weights[at]) : undefined));
  if (asked.every((weight) => weight === 0))
    return refused(
      "weight-0",
      `Nothing would answer for ${region}: give one origin a weight, or send its IDs elsewhere.`,
    );
  const edits = origins.flatMap(({ weight }, at) =>
    weight === asked[at] ? [] : [{ path: ["regions", region, "origins", at, "weight"], value: asked[at] }],
  );
  return planEdits(text, { edits, fieldOf: (pointer) => `weight-${/\/origins\/(\d+)/.exec(pointer)?.[1] ?? 0}` });
}

/** Empty: none. */
export const planDefault = (text: string, region: string): Planned =>
  planEdits(text, {
    edits: [{ path: ["default"], value: region === "" ? undefined : region }],
    fieldOf: () => "region",
    notes: region === "" ? ["IDs that no route takes get 404."] : [],
  });

export interface NewEntity {
  readonly name: string;
  readonly path: string;
  readonly layout: string;
  /** The number or class by which the layout tells entities apart; empty where it has none. */
  readonly mark: string;
}

/** How a layout tells its entities apart. */
export const markOf = (layout: string): "service" | "class" | undefined =>
  layout === "luuid" ? "class" : layout === "iuid" ? "service" : undefined;

export function planEntity(text: string, table: DeclaredTable, { name, path, layout, mark }: NewEntity): Planned {
  const own = name.trim();
  if (own === "") return refused("name", "Give it a name, such as order.");
  if (ownOf(table.entities, own) !== undefined)
    return refused("name", `There is an entity ${own} already: choose another name.`);
  if (path.trim() === "")
    return refused("path", `Write its path with :id in the place of the ID, such as /${own}s/:id.`);
  const by = markOf(layout);
  if (by === "service" && !/^\d+$/.test(mark.trim()))
    return refused("mark", "Write the service number that the IDs of this entity carry, such as 3.");
  if (by === "class" && mark.trim() === "")
    return refused("mark", "Write the class whose CRC-12 is the group, such as com.example.Person.");
  const id = {
    layout,
    ...(by === "service" && { service: Number(mark) }),
    ...(by === "class" && { class: mark.trim() }),
  };
  return planEdits(text, {
    edits: [{ path: ["entities", own], value: { path: path.trim(), ids: [id] } }],
    fieldOf: (pointer) =>
      pointer.includes("/path")
        ? "path"
        : pointer.endsWith("/layout")
          ? "layout"
          : pointer.includes("/ids/")
            ? "mark"
            : "name",
  });
}
