import { luuid } from "../../ids/index.ts";
import type { Draft } from "../draft.ts";
import { patternsOf } from "../entity-paths.ts";
import { listNames, type Report } from "../faults.ts";
import { groupOfId } from "../groups.ts";
import { LUUID_SHORT } from "../identity.ts";
import type { DeclaredEntity } from "../schema.ts";

/** A layout that a pattern names must be the entity's, and each layout needs a pattern to which its IDs lead. */
export const checkPathLayouts = (draft: Draft, report: Report): void => {
  for (const [name, entity] of draft.entities) {
    const patterns = patternsOf(entity.path);
    const readable = readableIn(entity);
    let isSound = true;
    for (const [index, { layout }] of patterns.entries()) {
      if (layout === undefined || readable.has(layout)) continue;
      isSound = false;
      const place = Array.isArray(entity.path) ? ["path", index, "layout"] : ["path", "layout"];
      const message = `${JSON.stringify(name)} has no IDs that are read as ${JSON.stringify(layout)}; name one of ${listNames(readable)}.`;
      report("path-layout", ["entities", name, ...place], message);
    }
    if (!isSound) continue;
    const leading = patterns.filter(({ pattern }) => !pattern.includes("*"));
    const lost = entity.ids.find(({ layout: own }) =>
      leading.every(({ layout }) => layout !== undefined && layout !== own),
    );
    // Without any such pattern the first one is at fault by itself.
    if (lost === undefined || leading.length === 0) continue;
    const message = `No pattern without \`*\` is for IDs of ${lost.layout}, so /any/:id could not lead to them; add one, or name no layout in one.`;
    report("path-layout", ["entities", name, "path"], message);
  }
};

/** What a pattern may name. A public ID is never a short key. */
const readableIn = ({ ids, public: shown }: DeclaredEntity): ReadonlySet<string> => {
  const hasShortKeys = ids.some((id) => id.layout === luuid.name && groupOfId(id) !== undefined);
  return new Set([...ids.map(({ layout }) => layout), ...(hasShortKeys && shown === undefined ? [LUUID_SHORT] : [])]);
};
