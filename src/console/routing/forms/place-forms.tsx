import { useState } from "preact/hooks";
import { everyLayout } from "../../../ids/index.ts";
import { ownOf } from "../../app/own.ts";
import { Choice, Field } from "../../app/parts/fields.tsx";
import { FormDialog, type FormProps, RegionChoice } from "./form-dialog.tsx";
import { markOf, planDefault, planEntity, planOrigin, planRegion, planWeights } from "./places.ts";

export function RegionForm({ base, onClose }: FormProps) {
  const [values, setValues] = useState({ name: "", url: "", failover: "" });
  const set = (change: Partial<typeof values>) => setValues({ ...values, ...change });
  return (
    <FormDialog
      title="Add a region"
      base={base}
      values={JSON.stringify(values)}
      plan={() => planRegion(base.text, base.table, values)}
      onClose={onClose}
    >
      {(faultAt) => (
        <>
          <Field
            label="Name"
            isFirst
            hint="It stays: a name is never used again for another region."
            fault={faultAt("name")}
            value={values.name}
            onInput={(name) => set({ name })}
          />
          <OriginUrl value={values.url} fault={faultAt("url")} onInput={(url) => set({ url })} />
          <RegionChoice
            table={base.table}
            label="Reads fail over to"
            none="nowhere"
            value={values.failover}
            fault={faultAt("failover")}
            onChange={(failover) => set({ failover })}
          />
        </>
      )}
    </FormDialog>
  );
}

const OriginUrl = (props: {
  value: string;
  fault: string | undefined;
  onInput: (url: string) => void;
  isFirst?: boolean;
}) => (
  <Field {...props} label="Address of its origin" hint="http or https, such as https://eu-2.internal.example.com." />
);

export function OriginForm({ base, region, onClose }: FormProps & { region: string }) {
  const [values, setValues] = useState({ url: "", weight: "" });
  const set = (change: Partial<typeof values>) => setValues({ ...values, ...change });
  return (
    <FormDialog
      title={`Add an origin to ${region}`}
      base={base}
      values={JSON.stringify(values)}
      plan={() => planOrigin(base.text, base.table, { region, ...values })}
      onClose={onClose}
    >
      {(faultAt) => (
        <>
          <OriginUrl isFirst value={values.url} fault={faultAt("url")} onInput={(url) => set({ url })} />
          <Field
            label="Weight"
            hint="Its share of the IDs relative to the other origins. Empty is 1; with 0 it gets none yet."
            fault={faultAt("weight")}
            value={values.weight}
            onInput={(weight) => set({ weight })}
          />
        </>
      )}
    </FormDialog>
  );
}

/** `drained`: the place of the origin whose weight becomes 0. */
export function WeightsForm({
  base,
  region,
  drained,
  onClose,
}: FormProps & { region: string; drained?: number | undefined }) {
  const origins = ownOf(base.table.regions, region)?.origins ?? [];
  const [values, setValues] = useState(() =>
    origins.map(({ weight }, at) => (at === drained ? "0" : weight === undefined ? "" : String(weight))),
  );
  const sum = values.reduce((all, value) => all + (value.trim() === "" ? 1 : Number(value) || 0), 0);
  const shareOf = (value: string): string => {
    const weight = value.trim() === "" ? 1 : Number(value);
    return weight > 0 && sum > 0
      ? `${Math.round((weight / sum) * 1000) / 10} % of its IDs`
      : "drained: it gets no requests";
  };
  return (
    <FormDialog
      title={`Weights of ${region}`}
      text="Each origin's share of the IDs. Those of a drained one go to the others."
      base={base}
      values={JSON.stringify(values)}
      plan={() => planWeights(base.text, base.table, region, values)}
      onClose={onClose}
    >
      {(faultAt) =>
        origins.map(({ url }, at) => (
          <Field
            key={url}
            label={url}
            isFirst={at === 0}
            hint={shareOf(values[at] ?? "")}
            fault={faultAt(`weight-${at}`)}
            value={values[at] ?? ""}
            onInput={(weight) => setValues(values.with(at, weight))}
          />
        ))
      }
    </FormDialog>
  );
}

export function DefaultForm({ base, onClose }: FormProps) {
  const [region, setRegion] = useState(base.table.default ?? "");
  return (
    <FormDialog
      title="The default region"
      text="IDs that no route takes go there."
      base={base}
      values={region}
      plan={() => planDefault(base.text, region)}
      onClose={onClose}
    >
      {(faultAt) => (
        <RegionChoice
          table={base.table}
          none="none: they get 404"
          value={region}
          fault={faultAt("region")}
          onChange={setRegion}
        />
      )}
    </FormDialog>
  );
}

export function EntityForm({ base, onClose }: FormProps) {
  const [values, setValues] = useState({ name: "", path: "", layout: "iuid", mark: "" });
  const set = (change: Partial<typeof values>) => setValues({ ...values, ...change });
  const layouts = [...new Set([...Object.keys(base.table.layouts ?? {}), ...everyLayout.map(({ name }) => name)])];
  const mark = markOf(values.layout);
  return (
    <FormDialog
      title="Add an entity"
      text="A kind of things with IDs, and the path of its requests."
      base={base}
      values={JSON.stringify(values)}
      plan={() => planEntity(base.text, base.table, values)}
      onClose={onClose}
    >
      {(faultAt) => (
        <>
          <Field label="Name" isFirst fault={faultAt("name")} value={values.name} onInput={(name) => set({ name })} />
          <Field
            label="Path"
            hint="With :id in the place of the ID, such as /orders/:id."
            fault={faultAt("path")}
            value={values.path}
            onInput={(path) => set({ path })}
          />
          <div class="fields">
            <Choice
              label="Layout of its IDs"
              value={values.layout}
              options={layouts.map((name) => [name, name] as const)}
              onChange={(layout) => set({ layout, mark: "" })}
            />
            {mark && (
              <Field
                label={mark === "service" ? "Service number" : "Class"}
                fault={faultAt("mark")}
                value={values.mark}
                onInput={(text) => set({ mark: text })}
              />
            )}
          </div>
        </>
      )}
    </FormDialog>
  );
}
