import { useMemo } from "preact/hooks";
import { Button } from "../../app/parts/button.tsx";
import { Note } from "../../app/parts/sheet.tsx";
import { fragmentOf } from "../../app/router.ts";
import { knownTable, mayChange } from "../../app/session.ts";
import { plural } from "../../app/words.ts";
import { openPublish } from "../../publish/open.ts";
import { readText } from "../check-text.ts";
import { discardDraft, tableDraft } from "../draft.ts";
import { Effect } from "../effect.tsx";

/** On pages that show the table in force: a draft waits, and what it would change. */
export function DraftNote() {
  const draft = tableDraft.value;
  const known = knownTable.value;
  const checked = useMemo(() => (draft === undefined ? undefined : readText(draft.text)), [draft?.text]);
  if (draft === undefined || checked === undefined || known === undefined || !mayChange.value) return null;
  return (
    <div class="draft-note">
      <h2 class="hidden">Draft</h2>
      <Note
        kind={checked.ok ? "know" : "first"}
        title={`Draft, not published: ${plural(draft.changedLines, "line")} ${draft.changedLines === 1 ? "differs" : "differ"} from revision ${known.revision}`}
        actions={
          <>
            <Button
              kind="main"
              size="small"
              disabledBecause={
                checked.ok ? undefined : `It has ${plural(checked.error.length, "fault")}: the editor shows them.`
              }
              onClick={openPublish}
            >
              Review and publish
            </Button>
            <Button size="small" icon="editor" href={fragmentOf("editor")}>
              Open in the editor
            </Button>
            <Button size="small" kind="quiet" onClick={discardDraft}>
              Discard
            </Button>
          </>
        }
      >
        This page shows the table in force.
      </Note>
      {checked.ok && (
        <details class="sheet">
          <summary>What would change</summary>
          <div class="in">
            <Effect before={known.declared} after={checked.value} />
          </div>
        </details>
      )}
    </div>
  );
}
