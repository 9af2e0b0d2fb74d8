import { err, type Layout, ok, type Reading, type Result, recognise, type TextForm } from "../../ids/index.ts";
import { writtenBy } from "../../ids/text/form.ts";
import { command, option, required } from "../command.ts";
import { parseErrorSentence } from "../lib/errors.ts";
import { convertEach } from "../lib/input.ts";
import { findForm, findLayout, openLayouts, suggestion, writtenForms } from "../lib/layouts.ts";
import { escapeControls } from "../lib/output.ts";
import { misuse } from "../runtime.ts";
import {
  bareCommand,
  conversionsFrom,
  couldBeSentence,
  isMeantUnnamed,
  onlyUntimely,
} from "./explain/without-table.ts";

/** A layout, a text form, or both. */
export type Spelling = { readonly layout: Layout | undefined; readonly text: string | undefined };

/** `ulid`, `hex` or `ulid:hex`. A layout's name takes precedence over that of a text form, unless several layouts have the form. */
export const parseSpelling = (given: string | undefined, layouts: readonly Layout[]): Result<Spelling, string> => {
  if (given === undefined) return ok({ layout: undefined, text: undefined });
  const [name = "", text, ...rest] = given.split(":");
  const texts = [...new Set(layouts.flatMap((layout) => writtenForms(layout).map((form) => form.name)))];
  if (rest.length > 0) return err(`"${escapeControls(given)}" has more than one colon; write layout:text.`);
  const withForm = layouts.filter((layout) => writtenForms(layout).some((form) => form.name === name));
  if (text === undefined && withForm.length > 1) return ok({ layout: undefined, text: name });
  if (text === undefined && layouts.every((layout) => layout.name !== name)) {
    if (texts.includes(name)) return ok({ layout: undefined, text: name });
    const near = suggestion(name, [...texts, ...layouts.map((layout) => layout.name)]) || ".";
    return err(`"${escapeControls(name)}" is neither a layout nor a text form${near}`);
  }
  const layout = findLayout(name, layouts);
  if (!layout.ok) return layout;
  const form = text === undefined ? ok(undefined) : findForm(layout.value, text);
  return form.ok ? ok({ layout: layout.value, text }) : form;
};

/** Reads an ID as `from` and writes it as `to`. The error is a sentence: no text, or several. */
export const convertId = (id: string, from: Spelling, to: Spelling, layouts: readonly Layout[], nowMs: number) => {
  const readings = readAs(id, from, layouts, nowMs);
  if (!readings.ok) {
    if (from.layout !== undefined) return readings;
    return err(readings.error + (hintOf(id, from, layouts) || hintOf(id, to, layouts)));
  }
  const converted = readings.value.flatMap((reading) => writeAs(reading, to));
  const [first] = converted;
  if (first === undefined) {
    const read = [...new Set(readings.value.map(({ layout }) => layout.name))].join(", ");
    const why = `"${escapeControls(id)}" is read as ${read}, and no such ID has the other text form.`;
    return err(why + hintOf(id, to, layouts));
  }
  if (converted.every((each) => each.id === first.id)) return ok(first);
  const conversions = converted.map((each) => `${each.from.layout}:${each.from.text} gives ${each.id}`);
  return err(`"${escapeControls(id)}" can be read in several ways; choose one with --from: ${conversions.join(", ")}.`);
};

/** Whether the text is valid in a form of the named layout. The name of a form may be that of a layout too, as `uuid` is. */
const hintOf = (id: string, named: Spelling, layouts: readonly Layout[]): string => {
  const layout = named.layout ?? layouts.find(({ name }) => name === named.text);
  if (layout === undefined) return "";
  const form = writtenForms(layout).find(({ read }) => {
    const words = read(id, 0, id.length);
    return words !== undefined && layout.fits(words);
  });
  if (form === undefined) return "";
  return ` If it is the ${form.name} of layout ${layout.name}, pass --from ${layout.name}:${form.name}.`;
};

/** With an explicit layout, any time is accepted. */
export const ANY_TIME = { fromMs: Number.NEGATIVE_INFINITY, aheadMs: Number.POSITIVE_INFINITY };

const readAs = (id: string, { layout: named, text }: Spelling, layouts: readonly Layout[], nowMs: number) => {
  const tried = (named === undefined ? layouts.filter(isMeantUnnamed) : [named]).flatMap((layout) => {
    const forms = formsToTry(layout, named !== undefined, text);
    const [first] = forms;
    return first === undefined ? [] : [{ ...layout, texts: forms, parseText: first.parse }];
  });
  const window = named === undefined ? undefined : ANY_TIME;
  // Digits alone are decimal unless the text form is given.
  const recognisable = tried.map((layout) => ({ layout, named: text !== undefined, window }));
  const { readings, unreadable } = recognise(id, recognisable, nowMs);
  const possible = readings.filter(({ excluded }) => !excluded);
  if (possible.length > 0) {
    // The layout with all of its text forms.
    const whole = ({ layout }: Reading) => layouts.find(({ name }) => name === layout.name) ?? layout;
    return ok(possible.map((reading) => ({ ...reading, layout: whole(reading) })));
  }
  const shown = `"${escapeControls(id)}"`;
  const [reading] = readings;
  const [unread] = unreadable;
  if (named === undefined) {
    const otherTimes = onlyUntimely(readings);
    if (otherTimes.length > 0) {
      const conversions = otherTimes.map(({ layout, form }) => `--from ${layout.name}:${form}`);
      return err(`Only its time excludes ${shown}; confirm with ${conversions.join(" or ")}.`);
    }
    const why = reading === undefined ? "." : `; \`${bareCommand(id)}\` says why.`;
    const other = couldBeSentence(id, nowMs);
    return err(`${shown} is not an ID of any layout${text === undefined ? "" : ` in ${text}`}${why}${other}`);
  }
  const why = reading === undefined ? unread && parseErrorSentence(unread.error) : reading.against[0];
  return err(`${shown} is not a valid ${named.name}${why === undefined ? "" : `: ${why}`}.`);
};

/** Without a hint, only the forms that a gateway reads: 32 digits may be ambiguous. */
const formsToTry = (layout: Layout, isNamed: boolean, text: string | undefined): readonly TextForm[] => {
  const forms = isNamed || text !== undefined ? writtenForms(layout) : layout.texts;
  return forms.filter(({ name }) => text === undefined || name === text);
};

const writeAs = ({ layout, form: text, words }: Reading, to: Spelling) => {
  const conversion = conversionsFrom(layout.name).find((each) => each.to.name === to.layout?.name);
  const isSame = to.layout === undefined || to.layout.name === layout.name;
  if (!isSame && conversion === undefined) return [];
  const target = conversion?.to ?? to.layout ?? layout;
  const name = to.text ?? target.table.text.name;
  const form = writtenForms(target).find((each) => each.name === name);
  const id = form && writtenBy(form, conversion === undefined ? words : conversion.move(words));
  if (id === undefined) return [];
  return [{ id, from: { layout: layout.name, text }, to: { layout: target.name, text: name } }];
};

export const idConvert = command({
  name: "convert",
  description: "convert IDs to another text form, or to a layout with the same bits",
  args: [["[id...]", "the IDs; - or none reads them from stdin, one per line"]],
  options: [
    option("--from <spelling>", "the input: a layout, a text form, or both as layout:text"),
    required("--to <spelling>", "the output, written the same way"),
    option("--table <file>", "a routing table with custom layouts"),
    option("--json", "one JSON object per line: id, from and to"),
  ],
  help: `
Examples:
  $ waybill id convert 1088824355131185736905670087 --to base62
  $ waybill id convert --from hotguid --to hotguid-sql < ids.txt
  $ waybill id convert 01arz3ndektsv4rrffq69g5fav --from ulid --to uuid

Between layouts: hotguid and hotguid-sql, comb-prefix and comb-suffix, short-prefix-comb and short-suffix-comb, uuid-v1 and
uuid-v6, object-id and xid. If a text can be read in several ways with different results, --from is required.
Exit code: 0 if every ID was converted, otherwise 1.`,
  run: async (runtime, args, options) => {
    const layouts = await openLayouts(options.table, runtime);
    const from = parseSpelling(options.from, layouts);
    const to = parseSpelling(options.to, layouts);
    const toError = to.ok ? "" : `error: ${to.error} (--to)\n`;
    if (!from.ok) return misuse(`error: ${from.error} (--from)\n${toError}`);
    if (!to.ok) return misuse(toError);
    return convertEach(args, options.json, runtime, (id) =>
      convertId(id, from.value, to.value, layouts, runtime.nowMs()),
    );
  },
});
