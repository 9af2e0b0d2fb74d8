import {
  NO_PUBLIC_KEYS,
  type PublicCodec,
  parsePublicKeys,
  publicCodec,
} from "../../features/public-ids/table/codec.ts";
import type { PublicIdOpener } from "../../features/public-ids/table/reading.ts";
import { err, ok } from "../../ids/index.ts";
import type { CompiledTable, Entity } from "../../routing/index.ts";
import { command, group, option, required } from "../command.ts";
import { malformed } from "../lib/errors.ts";
import { convertEach } from "../lib/input.ts";
import { openTable } from "../lib/open-table.ts";
import { escapeControls } from "../lib/output.ts";
import { EXIT, type Runtime } from "../runtime.ts";

/** `why`: the reason if there is no converted ID. */
const convertCommand = (name: "open" | "show", description: string, why: string) =>
  command({
    name,
    description,
    args: [["[id...]", "the IDs; - or none reads them from stdin, one per line"]],
    options: [
      required("--entity <name>", "the public entity of the routing table"),
      option("--table <file>", "the routing table (default: routing-table.json, if present)"),
      option("--json", "one JSON object per line: text, and id or error"),
    ],
    help: `
Examples:
  $ waybill public open --entity order sd0Vd4dVQ3Ldb9tdbRbQ4y5kTRuRyFXU0vEMRP5FnvfK
  $ waybill public show --entity order < internal.txt

The keys are read only from the environment variable PUBLIC_ID_KEYS, in the format of the gateway's secret.
Exit code: 0 if every ID was converted, otherwise 1.`,
    run: async (runtime, args, { entity, table: path, json }) => {
      const codec = codecOf(await openTable(path, runtime), entity, runtime);
      return convertEach(args, json, runtime, (text) => {
        const id = codec[name](text);
        return id === undefined ? err(`"${escapeControls(text)}" was not converted: ${why}.`) : ok({ id });
      });
    },
  });

export const publicIds = group("public", "convert between public and internal IDs", [
  convertCommand("open", "print the internal IDs of public IDs", "no key decrypts it"),
  convertCommand("show", "print the public IDs of internal IDs", "it is not an ID of the entity"),
]);

/** Opens public IDs where the environment has the keys of their entity. Without them they are like any text that nothing reads. */
export const openerOf = ({ env }: Pick<Runtime, "env">): PublicIdOpener => {
  const publicIdKeys = env("PUBLIC_ID_KEYS");
  const keys = publicIdKeys === undefined ? ok(NO_PUBLIC_KEYS) : parsePublicKeys(publicIdKeys);
  if (!keys.ok) return malformed(keys.error, EXIT.failed);
  const codecs = new Map<Entity, PublicCodec | undefined>();
  return {
    open(entity, text) {
      if (!codecs.has(entity)) codecs.set(entity, publicCodec(entity, keys.value));
      return ok(codecs.get(entity)?.open(text));
    },
  };
};

/** The codec of a public entity with the keys of the environment. */
export const codecOf = (table: CompiledTable | undefined, name: string, { env }: Runtime): PublicCodec => {
  if (table === undefined) return malformed("There is no routing table; pass one with --table.");
  const entity = table.entities.get(name);
  if (entity?.public === undefined) {
    const known = [...table.entities.values()].filter((each) => each.public !== undefined).map((each) => each.name);
    const what = entity === undefined ? "has no entity" : "does not make public the entity";
    return malformed(
      `The routing table ${what} "${name}". Public ones: ${known.join(", ") || "none"}. (--entity)`,
      EXIT.failed,
    );
  }
  // Never an argument: every user of a machine can see arguments.
  const publicIdKeys = env("PUBLIC_ID_KEYS");
  if (publicIdKeys === undefined) return malformed("The environment has no PUBLIC_ID_KEYS.", EXIT.failed);
  const keys = parsePublicKeys(publicIdKeys);
  if (!keys.ok) return malformed(keys.error, EXIT.failed);
  const list = entity.public.as === "sealed" ? "sealed" : "compatible";
  const lacking = `PUBLIC_ID_KEYS has no ${list} key, which the public IDs of ${name} need.`;
  return publicCodec(entity, keys.value) ?? malformed(lacking, EXIT.failed);
};
