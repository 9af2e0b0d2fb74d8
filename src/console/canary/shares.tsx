import { useState } from "preact/hooks";
import { Button } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { countText } from "../app/words.ts";
import { shareIn } from "./figures.ts";

const SHARES = [1, 5, 25, 50, 100];

/** A few shares in a row, and any other as a number. `now`: the one that runs. */
export function Shares(props: { now?: number; value?: number; onChoose: (share: number) => void; verb: string }) {
  const [text, setText] = useState("");
  const other = shareIn(text);
  const isOther = props.value !== undefined && !SHARES.includes(props.value);
  return (
    <>
      <fieldset class="share-steps">
        <legend class="hidden">Share of the IDs</legend>
        {SHARES.map((share) => (
          <button
            key={share}
            type="button"
            aria-pressed={share === props.value}
            class={props.now !== undefined && share < props.now ? "past" : ""}
            onClick={() => props.onChoose(share)}
          >
            {share} %
          </button>
        ))}
      </fieldset>
      <form
        class="beside"
        onSubmit={(event) => {
          event.preventDefault();
          if (other !== undefined) props.onChoose(other);
        }}
      >
        <Field
          label="Another share, in percent"
          value={text}
          onInput={setText}
          {...(text !== "" && other === undefined && { fault: "Write a number above 0 and up to 100." })}
          {...(isOther && text === "" && { placeholder: countText(props.value ?? 0) })}
        />
        <Button isSubmit disabledBecause={undefined} isBusy={other === undefined}>
          {props.verb}
        </Button>
      </form>
    </>
  );
}
