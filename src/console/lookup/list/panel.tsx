import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../app/parts/button.tsx";
import { ProblemNote } from "../../app/parts/sheet.tsx";
import { Facts } from "../../app/parts/table.tsx";
import { fragmentOf } from "../../app/router.ts";
import { reader } from "../../app/session.ts";
import { countText } from "../../app/words.ts";
import { Actions } from "../actions.tsx";
import { answerOf, askOne, showEntity } from "../answers.ts";
import { BitStrip } from "../label/bits.tsx";
import { EntitySheet } from "../label/entity.tsx";
import { entriesOf, Headline, IdText, Place, What } from "../label/label.tsx";
import { PartsText } from "../label/links.tsx";
import { useKnown } from "../one.tsx";
import type { Pasted, PastedList } from "../read-pasted.ts";

/** One ID of a list, beside it. */

interface PanelProps {
  readonly list: PastedList;
  /** The place of the ID. */
  readonly at: number;
  readonly pasted: Pasted;
}

/** The link of an ID beside the list that it is of. */
export const besideList = ({ source }: Pasted): string => fragmentOf("look-up", { id: source, list: "1" });

export function Panel({ list, at, pasted }: PanelProps) {
  const answer = answerOf(pasted);
  const known = useKnown(pasted, answer);
  const { verdict, chosen, strip, unclear } = known;
  const shown = answer.preview;
  const own = useFocusInPlace(besideList(pasted));
  return (
    <div class="pile side-panel" ref={own} tabIndex={-1}>
      <aside class="sheet" aria-label="The chosen ID" data-reading={pasted.id}>
        <PanelHead list={list} at={at} pasted={pasted} />
        <div class="in mini">
          {unclear === undefined ? (
            <>
              <What reader={reader.value} known={known} isSmall />
              <Headline verdict={verdict} isSmall />
              <p>
                <PartsText parts={verdict.because} />
              </p>
              <Place verdict={verdict} asked={answer.value} />
            </>
          ) : (
            <p>No layout of the table reads it as one ID. Open it alone to see why.</p>
          )}
          <IdText text={pasted.id} of={strip} />
          {strip && <BitStrip of={strip} hasSpans={false} />}
          {strip && chosen && (
            <Facts
              rows={entriesOf(reader.value, chosen, strip)
                .filter(({ kind }) => kind === "key" || kind === "time")
                .map(({ name, value }) => [name.replace(/, .*/, ""), value] as const)}
            />
          )}
          {answer.problem && <ProblemNote problem={answer.problem} onRetry={() => void askOne(pasted)} />}
          <div class="row">
            <Actions pasted={pasted} known={known} answer={answer} isSmall />
          </div>
        </div>
      </aside>
      {shown && (
        <EntitySheet shown={shown} chosen={chosen} onRetry={() => void showEntity(pasted, shown.value?.path)} />
      )}
    </div>
  );
}

/** On a narrow page the list is hidden: the focus goes to the panel, and back to the row. */
function useFocusInPlace(href: string) {
  const own = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const list = own.current?.parentElement?.querySelector<HTMLElement>(".list-sheet");
    if (list?.offsetParent !== null) return undefined;
    own.current?.focus();
    return () => {
      requestAnimationFrame(() =>
        list.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true }),
      );
    };
  }, [href]);
  return own;
}

function PanelHead({ list, at, pasted }: PanelProps) {
  const before = list.items[at - 1];
  const after = list.items[at + 1];
  return (
    <header>
      <h2>
        {countText(at + 1)} of {countText(list.items.length)}
      </h2>
      <div class="row tight">
        <Button kind="quiet" size="small" icon="left" label="The one before" href={besideList(before ?? pasted)} />
        <Button kind="quiet" size="small" icon="right" label="The next one" href={besideList(after ?? pasted)} />
        <Button size="small" href={fragmentOf("look-up", { id: pasted.source, list: "1", alone: "1" })}>
          Open alone
        </Button>
        <Button kind="quiet" size="small" icon="cross" label="Back to the list" href={fragmentOf("look-up")} />
      </div>
    </header>
  );
}
