import { couldBe, declarationOf, type Layout, type Words } from "../../../ids/index.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import { couldBeSentence, explainBare, isMeantUnnamed } from "../explain/without-table.ts";

/** An ID that a team has already: it becomes the first entity, route and example of its table. */

/** A layout that reads the ID. `declared`: its entry in `layouts`, for texts of libraries. */
export interface SampleReading {
  readonly layout: Layout;
  readonly words: Words;
  readonly declared: object | undefined;
}

export interface Sample {
  /** The ID as it was given, without the path around it. */
  readonly id: string;
  /** The segments before the ID, where a path or a URL was given. */
  readonly above: readonly string[];
  /** The layouts that read it; several where the text alone does not tell. */
  readonly readings: readonly SampleReading[];
  /** Where none reads it: what else it may be. */
  readonly hint: string;
}

/** Reads an ID, or the last one in a path or URL, as `waybill explain` does without a table. */
export function readSample(text: string, layouts: readonly Layout[], nowMs: number): Sample {
  const [, path] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(text) ?? [];
  if (path === undefined) return sampleOf(text, [], layouts, nowMs);
  const segments = path.split("/").slice(1);
  const samples = segments.map((segment, at) => sampleOf(segment, segments.slice(0, at), layouts, nowMs));
  return samples.findLast(({ readings }) => readings.length > 0) ?? sampleOf(text, [], layouts, nowMs);
}

function sampleOf(id: string, above: readonly string[], layouts: readonly Layout[], nowMs: number): Sample {
  const proven = couldBe(id, nowMs).filter(({ isProven }) => isProven);
  const declared = proven.map((found) => ({
    layout: found.layout,
    words: found.words,
    declared: declarationOf(found),
  }));
  const named = groupBy(
    explainBare(id, layouts, nowMs).candidates.filter(({ excluded }) => !excluded),
    ({ layout }) => layout,
  );
  const built = layouts.flatMap((layout): readonly SampleReading[] => {
    const words = named.has(layout.name) ? layout.parseText(id) : undefined;
    return words?.ok ? [{ layout, words: words.value, declared: undefined }] : [];
  });
  return { id, above, readings: [...declared, ...built], hint: couldBeSentence(id, nowMs) };
}

/** The readings that a layout's name leaves; one that is read by no name of its own needs it. */
export const readingsAs = (sample: Sample, layout: Layout): readonly SampleReading[] => {
  const own = sample.readings.filter((reading) => reading.layout === layout);
  const words = isMeantUnnamed(layout) ? undefined : layout.parseText(sample.id);
  return words?.ok ? [{ layout, words: words.value, declared: undefined }] : own;
};
