import { useState } from "preact/hooks";
import { Check } from "../../app/parts/fields.tsx";
import { timeInWords } from "../../app/words.ts";
import { FormDialog, type FormProps, newIdsFrom, RegionChoice } from "./form-dialog.tsx";
import { refused } from "./planned.ts";
import { planSendRegion } from "./send.ts";

/** A region that is to be left: all of its IDs, or those that are still to come. */
export function SendRegionForm({ base, from, to, onClose }: FormProps & { from: string; to: string }) {
  const [values, setValues] = useState<{ to: string; ids: "all" | "new" }>({ to, ids: "new" });
  const [now] = useState(newIdsFrom);
  return (
    <FormDialog
      title={`Send the IDs of ${from} elsewhere`}
      text="Every route that leads there leads to another region."
      base={base}
      values={JSON.stringify(values)}
      plan={() =>
        values.to === ""
          ? refused("to", "Choose the region that they go to.")
          : planSendRegion(base.text, base.table, { from, ...values, now })
      }
      onClose={onClose}
    >
      {(faultAt) => (
        <>
          <fieldset class="field pile small">
            <legend class="label">These IDs</legend>
            <Check
              group="ids"
              isOn={values.ids === "new"}
              onChange={() => setValues({ ...values, ids: "new" })}
              hint={`From ${timeInWords(now)} on, when every instance has the table. Those that ${from} has stay there with their data.`}
            >
              New ones alone, minted from now on
            </Check>
            <Check
              group="ids"
              isOn={values.ids === "all"}
              onChange={() => setValues({ ...values, ids: "all" })}
              hint="Data does not move with a route: copy it first."
            >
              All of them
            </Check>
          </fieldset>
          <RegionChoice
            table={base.table}
            value={values.to}
            except={from}
            fault={faultAt("to")}
            onChange={(region) => setValues({ ...values, to: region })}
          />
        </>
      )}
    </FormDialog>
  );
}
