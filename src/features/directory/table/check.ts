import * as v from "valibot";
import { luuid } from "../../../ids/index.ts";
import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkRegion } from "../../../routing/check/names.ts";
import { patternsOf } from "../../../routing/lookup/paths.ts";
import { type Draft, namesIn } from "../../../routing/schema/draft.ts";
import { type Place, type Report, reportUnknown } from "../../../routing/schema/faults.ts";
import { hasMember } from "../../../routing/schema/member.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity, DeclaredRoute } from "../../../routing/schema/table.ts";
import { declaredIn } from "./compile.ts";
import { directoriesSchema, entityMembers, routeMembers } from "./schema.ts";
import { TEXT_KEY } from "./types.ts";

/** Every directory that is named must be declared, for keys of the kind that is looked up there. */
const checkDirectories = (draft: Draft, report: Report): void => {
  const directories = declaredIn(draft);
  for (const [name, { key, onFailure, unknown }] of directories) {
    const place: Place = ["directory", name];
    if ("layout" in key) {
      const at = [...place, "key", "layout"];
      if (!draft.known.has(key.layout)) reportUnknown("layout", key.layout, draft.known.keys(), at, report);
      // Its short keys have no random bits, so they are other keys.
      if (key.layout === luuid.name)
        report("schema", at, "An LUUID has a short key, which is another text; route by its group.");
    }
    if (unknown !== undefined) checkRegion(draft, unknown, [...place, "unknown"], report);
    if (typeof onFailure === "object") checkRegion(draft, onFailure.region, [...place, "onFailure", "region"], report);
  }
  if (directories.size > 0 && draft.names.layouts.has(TEXT_KEY)) {
    report(
      "name-clash",
      ["layouts", TEXT_KEY],
      `${JSON.stringify(TEXT_KEY)} is what text keys are called; choose another name.`,
    );
  }
  for (const [name, entity] of draft.entities) checkEntity(draft, name, entity, report);
  for (const { index, route } of draft.routes) {
    if (route.directory !== undefined) checkRoute(draft, route, route.directory, ["routes", index], report);
  }
};

const find = (draft: Draft, name: string, place: Place, report: Report) => {
  const names = namesIn(draft.declared, "directory");
  if (!names.has(name)) reportUnknown("directory", name, names, place, report);
  return declaredIn(draft).get(name);
};

function checkEntity(draft: Draft, name: string, entity: DeclaredEntity, report: Report): void {
  const place: Place = ["entities", name];
  checkInstead(draft, entity, [...place, "regionsInstead"], report);
  if (entity.directory === undefined) {
    if (entity.ids.length === 0) {
      report("schema", [...place, "ids"], "An entity needs at least one layout of IDs, or a directory of its keys.");
    }
    return;
  }
  const at = [...place, "directory"];
  const directory = find(draft, entity.directory, at, report);
  if (entity.ids.length > 0) {
    report("schema", at, "An entity has IDs or keys of a directory; remove one, or give a route the directory.");
    return;
  }
  if (directory !== undefined && "layout" in directory.key) {
    const { layout } = directory.key;
    report("schema", at, `Its keys are IDs of ${layout}: name it in a route for ${layout}, and ${layout} in \`ids\`.`);
  }
  const unsuited = {
    public: "A key of a directory has no public ID; remove one of them.",
    create: "Keys are claimed, not minted: create on a path without an ID, and claim the key.",
    readCopies: "Keys are read from the region that their directory says; remove this.",
    any: "A key is no ID, so /any does not take it; remove this.",
  } as const;
  for (const [member, message] of Object.entries(unsuited)) {
    if (hasMember(entity, member)) report("schema", [...place, member], message);
  }
  if (patternsOf(entity.path).some(({ layout }) => layout !== undefined)) {
    report("path-layout", [...place, "path"], "A key has no layout; name none in the path.");
  }
}

/** One region stands for one of the directory, so that what origins say of keys can be told to it. */
function checkInstead(draft: Draft, { directory, regionsInstead }: DeclaredEntity, place: Place, report: Report): void {
  if (regionsInstead === undefined) return;
  if (directory === undefined)
    report("schema", place, "Routes say the regions of IDs: name the entity in one; remove this.");
  const taken = new Set<string>();
  for (const [own, other] of Object.entries(regionsInstead)) {
    const at = [...place, own];
    checkRegion(draft, own, at, report);
    checkRegion(draft, other, at, report);
    const stands = `${JSON.stringify(other)} stands for one region; name another one.`;
    if (taken.has(other) || Object.hasOwn(regionsInstead, other)) report("schema", at, stands);
    taken.add(other);
  }
}

/** A route that looks up takes IDs of one layout: each ID has one key. */
function checkRoute(draft: Draft, route: DeclaredRoute, name: string, place: Place, report: Report): void {
  const directory = find(draft, name, [...place, "directory"], report);
  if (directory === undefined) return;
  if ("text" in directory.key) {
    const message = "Its keys are texts, and a route takes IDs: name it in an entity, or give it `key.layout`.";
    report("schema", [...place, "directory"], message);
    return;
  }
  const { layout } = directory.key;
  const { when } = route;
  if (listOf(when.layout ?? []).join() !== layout) {
    report(
      "schema",
      [...place, "when"],
      `The directory has IDs of ${layout}: add "layout": ${JSON.stringify(layout)}, alone.`,
    );
  }
  const taken = when.entity === undefined ? [...draft.entities.keys()] : listOf(when.entity);
  const hidden = taken.find((entity) => {
    const declared = draft.entities.get(entity);
    return declared !== undefined && hasMember(declared, "public") && declared.ids.some((id) => id.layout === layout);
  });
  if (hidden !== undefined) {
    const message = `${JSON.stringify(hidden)} has public IDs, which are not looked up; name the other entities in \`entity\`.`;
    report("public-ids", [...place, "directory"], message);
  }
}

export const directoryChecks: TableChecks = {
  name: "directory",
  schema: {
    table: { directory: v.exactOptional(directoriesSchema) },
    entity: entityMembers,
    route: routeMembers,
    destination: ["directory", 1],
  },
  names: checkDirectories,
};
