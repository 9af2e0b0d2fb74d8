import { useState } from "preact/hooks";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredConditions, DeclaredTable } from "../../../routing/schema/table.ts";
import { Segments } from "../../app/parts/button.tsx";
import { Check, Choice, Field } from "../../app/parts/fields.tsx";
import { knownTable } from "../../app/session.ts";
import { countryName } from "../../app/words.ts";
import { type Kind, kindsIn, valuesOf } from "./conditions.ts";
import { FormDialog, type FormProps, newIdsFrom, RegionChoice } from "./form-dialog.tsx";
import { type Planned, refused } from "./planned.ts";
import { planSend } from "./send.ts";

interface Values {
  /** Conditions that the form does not show: those of the route that it began with. */
  readonly base: DeclaredConditions;
  readonly entity: string;
  readonly kind: string;
  readonly typed: string;
  readonly minted: "any" | "now" | "time";
  readonly from: string;
  readonly before: string;
  readonly region: string;
  readonly isLast: boolean;
}

/** A new route, or IDs of one that are to go elsewhere. */
export function SendForm({
  base,
  route,
  entity,
  onClose,
}: FormProps & { route?: number | undefined; entity?: string | undefined }) {
  const { text, table } = base;
  const [values, setValues] = useState<Values>(() => begin(table, route, entity));
  const [now] = useState(newIdsFrom);
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  const kinds = kindsIn(table);
  const entities = Object.keys(table.entities ?? {});
  return (
    <FormDialog
      title={route === undefined ? "Add a route" : `Send IDs of route ${route + 1} elsewhere`}
      text="It stands before the routes that take these IDs now, so that it decides."
      base={base}
      values={JSON.stringify(values)}
      plan={() => plan(text, table, values, now)}
      onClose={onClose}
    >
      {(faultAt) => (
        <>
          <div class="fields">
            {values.base.entity === undefined && entities.length > 1 && (
              <Choice
                label="IDs of"
                value={values.entity}
                options={[["", "all entities"], ...entities.map((name) => [name, name] as const)]}
                onChange={(name) => set({ entity: name })}
              />
            )}
            <Choice
              label="Chosen by"
              value={values.kind}
              options={kinds.map(({ name, title }) => [name, title] as const)}
              onChange={(kind) => set({ kind, typed: "" })}
            />
          </div>
          <ValuesField
            table={table}
            kinds={kinds}
            values={values}
            fault={faultAt("values")}
            route={route}
            onChange={set}
          />
          <Minted values={values} onChange={set} faultAt={faultAt} />
          <RegionChoice
            table={table}
            value={values.region}
            fault={faultAt("region")}
            onChange={(region) => set({ region })}
          />
          {route === undefined && (
            <Check
              isOn={values.isLast}
              onChange={(isLast) => set({ isLast })}
              hint="It takes only what no other route takes."
            >
              Put it after all other routes
            </Check>
          )}
        </>
      )}
    </FormDialog>
  );
}

/** The draft may have moved the route: it is the one that says the same. */
function begin(table: DeclaredTable, route: number | undefined, entity = ""): Values {
  const known = route === undefined ? undefined : knownTable.peek()?.declared.routes[route];
  const own = table.routes.find((each) => JSON.stringify(each) === JSON.stringify(known)) ?? known;
  const none: Values = {
    base: {},
    entity,
    kind: "all",
    typed: "",
    minted: "any",
    from: "",
    before: "",
    region: "",
    isLast: false,
  };
  if (own === undefined) return kindsIn(table).length > 1 ? { ...none, kind: kindsIn(table)[1]?.name ?? "all" } : none;
  const { mintedFrom, mintedBefore, ...when } = own.when;
  const [kind, typed, base] = keyIn(when);
  const isTimed = (mintedFrom ?? mintedBefore) !== undefined;
  return {
    ...none,
    base,
    kind,
    typed,
    minted: isTimed ? "time" : "any",
    from: fieldTime(mintedFrom),
    before: fieldTime(mintedBefore),
  };
}

/** The key that the form shows, its values as one types them, and the other conditions. */
function keyIn(when: DeclaredConditions): readonly [kind: string, typed: string, base: DeclaredConditions] {
  const { country, shardKey, primaryKey, ...others } = when;
  if (country !== undefined) return ["country", listOf(country).join(","), without(when, "country")];
  if (shardKey !== undefined) return ["shardKey", listOf(shardKey).join(", "), without(when, "shardKey")];
  if (primaryKey !== undefined) return ["primaryKey", listOf(primaryKey).join(", "), without(when, "primaryKey")];
  for (const group of ["slices", "fields"] as const) {
    const [entry, ...more] = Object.entries(others[group] ?? {});
    if (entry !== undefined && more.length === 0)
      return [`${group}.${entry[0]}`, listOf(entry[1]).join(", "), without(when, group)];
  }
  return ["all", "", when];
}

const without = (when: DeclaredConditions, name: keyof DeclaredConditions): DeclaredConditions => {
  const { [name]: _, mintedFrom, mintedBefore, ...others } = when;
  return others;
};

/** As a field of date and time has it, at UTC. */
const fieldTime = (time: string | undefined): string => {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString().slice(0, 19);
};

function plan(text: string, table: DeclaredTable, values: Values, now: string): Planned {
  const { base, entity, kind, typed, minted, from, before, region, isLast } = values;
  const own = valuesOf(kind, typed, table);
  if (!own.ok) return refused("values", own.message);
  if (region === "") return refused("region", "Choose the region that they go to.");
  if (minted === "time" && from === "" && before === "")
    return refused("mintedFrom", "Say from when on, or before when.");
  const timeOf = (field: string): string => `${field.length === 16 ? `${field}:00` : field}Z`;
  const times = {
    ...(minted === "now" && { mintedFrom: now }),
    ...(minted === "time" && from !== "" && { mintedFrom: timeOf(from) }),
    ...(minted === "time" && before !== "" && { mintedBefore: timeOf(before) }),
  };
  const when = { ...base, ...(entity !== "" && { entity }), ...own.when, ...times };
  return planSend(text, table, { when, region, isLast });
}

interface PartProps {
  readonly values: Values;
  readonly onChange: (change: Partial<Values>) => void;
}

function ValuesField(
  props: PartProps & {
    table: DeclaredTable;
    kinds: readonly Kind[];
    fault: string | undefined;
    route: number | undefined;
  },
) {
  const { table, kinds, values, fault, route, onChange } = props;
  const kind = kinds.find(({ name }) => name === values.kind);
  const [offered] = useState(() =>
    route === undefined || values.kind !== "country" ? undefined : values.typed.split(","),
  );
  if (kind === undefined || kind.name === "all") return null;
  if (kind.name !== "country")
    return (
      <Field
        label={kind.title}
        hint={kind.hint}
        fault={fault}
        value={values.typed}
        onInput={(typed) => onChange({ typed })}
      />
    );
  const codes = offered ?? Object.keys(table.countries ?? {});
  const chosen = new Set(values.typed.split(",").filter((code) => code !== ""));
  return (
    <fieldset class="field countries">
      <legend class="label">Countries</legend>
      <div>
        {codes.map((code) => (
          <Check
            key={code}
            isOn={chosen.has(code)}
            onChange={(isOn) => {
              const next = codes.filter((each) => (each === code ? isOn : chosen.has(each)));
              onChange({ typed: next.join(",") });
            }}
          >
            {countryName(code)}
          </Check>
        ))}
      </div>
      {fault && (
        <small class="fault" role="alert">
          {fault}
        </small>
      )}
    </fieldset>
  );
}

function Minted({ values, onChange, faultAt }: PartProps & { faultAt: (field: string) => string | undefined }) {
  return (
    <div class="field">
      <Segments
        label="Minted"
        isLabelled
        value={values.minted}
        options={[
          ["any", "at any time"],
          ["now", "from now on"],
          ["time", "in a time"],
        ]}
        onChange={(minted) => onChange({ minted })}
      />
      {values.minted === "time" && (
        <div class="fields">
          <Field
            label="From (UTC)"
            type="datetime-local"
            value={values.from}
            fault={faultAt("mintedFrom")}
            onInput={(from) => onChange({ from })}
          />
          <Field
            label="Before (UTC)"
            type="datetime-local"
            value={values.before}
            fault={faultAt("mintedBefore")}
            onInput={(before) => onChange({ before })}
          />
        </div>
      )}
    </div>
  );
}
