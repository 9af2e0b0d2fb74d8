import { checkTable } from "../../../routing/index.ts";
import { changeExits, changeOptions, changeTable, endUnchanged, OVER_MOVES, staleError } from "../../client/change.ts";
import { readRevision } from "../../client/client.ts";
import { command } from "../../command.ts";
import { wholeNumber } from "../../lib/input.ts";
import { readPublishable } from "../../lib/table-file.ts";

const JSON_TEXT = 'one JSON object: the new revision, or the current one and "changed": false';

export const publish = command({
  name: "publish",
  description: "check a table, show its changes, and publish it to a gateway",
  args: [["<file>", "the table; - reads it from stdin"]],
  options: [
    OVER_MOVES,
    ...changeOptions("publish only if this is the current revision (default: the current one)", JSON_TEXT),
  ],
  help: `
Examples:
  $ waybill table publish routing-table.json --note "ap takes Uzbekistan"
  $ waybill table publish routing-table.json --expect 41 --yes --json
  $ waybill table publish routing-table.json --yes --wait

Packs that the gateway does not have are uploaded first; an interrupted upload resumes.
${changeExits("0 published, or nothing to publish; 1 not published; 3 conflict: someone else published first", "the change is accepted")}`,
  run: (runtime, [path = ""], options) =>
    changeTable(options, runtime, {
      kind: "publish",
      read: () => readPublishable(path, runtime, options.json ? "json" : "stderr"),
      draft: async (gateway, inForce, file) => {
        const { revision, digest } = inForce;
        const { expect = revision } = options;
        // A higher one may be that of a canary, which only the gateway knows.
        if (expect < revision) return staleError(expect, revision, "current");
        if (digest === file.digest) {
          const why = `nothing to publish: revision ${revision} has the same text\n`;
          return endUnchanged(why, inForce, { gateway, options, runtime });
        }
        return {
          after: file,
          path,
          title: `from revision ${revision} to ${file.name}:\n`,
          question: `Publish ${file.name} on top of revision ${expect}?`,
          expected: async () => expect,
          send: (request) => gateway.publish(file.bytes, request),
        };
      },
      nothing: "nothing was published\n",
    }),
});

export const rollback = command({
  name: "rollback",
  description: "publish the text of an old revision again, as a new revision",
  args: [["<revision>", "the revision whose text to publish", wholeNumber]],
  options: [OVER_MOVES, ...changeOptions("only if this is the current revision (default: the current one)", JSON_TEXT)],
  help: `
Examples:
  $ waybill table rollback 41 --note "errors in us"
  $ waybill table rollback 41 --yes

The history is append-only: the text of revision 41 becomes the next revision, and is validated like any other.
Packs that the gateway no longer has are uploaded from ./packs.
${changeExits("0 done, or nothing to do; 1 not done; 3 conflict: the table was changed by someone else", "the change is accepted")}`,
  run: (runtime, [argument], options) =>
    changeTable(options, runtime, {
      kind: "rollback",
      draft: async (gateway, inForce) => {
        const to = Number(argument);
        const target = await readRevision(gateway, to, checkTable);
        const { revision, digest } = inForce;
        if (digest === target.digest) {
          const why = `nothing to do: revision ${revision} already has the text of revision ${to}\n`;
          return endUnchanged(why, inForce, { gateway, options, runtime });
        }
        return {
          after: target,
          title: `from revision ${revision} back to revision ${to}:\n`,
          question: `Put the text of revision ${to} into force?`,
          expected: async () => options.expect ?? revision,
          send: (request) => gateway.rollback(to, request),
          what: `, the text of revision ${to}`,
        };
      },
    }),
});
