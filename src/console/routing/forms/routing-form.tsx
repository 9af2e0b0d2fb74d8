import { DraftFirst, type FormProps, useBase } from "./form-dialog.tsx";
import { DefaultForm, EntityForm, OriginForm, RegionForm, WeightsForm } from "./place-forms.tsx";
import { SendForm } from "./send-form.tsx";
import { SendRegionForm } from "./send-region-form.tsx";

/** The forms for the common changes of the table. */
export type OpenForm =
  | { readonly kind: "send"; readonly route?: number; readonly entity?: string }
  | { readonly kind: "send-region"; readonly from: string; readonly to: string }
  | { readonly kind: "region" }
  | { readonly kind: "origin"; readonly region: string }
  | { readonly kind: "weights"; readonly region: string; readonly drained?: number }
  | { readonly kind: "default" }
  | { readonly kind: "entity" };

export function RoutingForm({ form, onClose }: { form: OpenForm; onClose: () => void }) {
  const { text, table, faults, revision } = useBase();
  if (table === undefined) return <DraftFirst title="Change the table" faults={faults} onClose={onClose} />;
  const own: FormProps = { base: { text, table, revision }, onClose };
  switch (form.kind) {
    case "send":
      return <SendForm {...own} route={form.route} entity={form.entity} />;
    case "send-region":
      return <SendRegionForm {...own} from={form.from} to={form.to} />;
    case "region":
      return <RegionForm {...own} />;
    case "origin":
      return <OriginForm {...own} region={form.region} />;
    case "weights":
      return <WeightsForm {...own} region={form.region} drained={form.drained} />;
    case "default":
      return <DefaultForm {...own} />;
    case "entity":
      return <EntityForm {...own} />;
  }
}
