import { useState } from "preact/hooks";
import type { EntityPreview } from "../../../formats/console-api.ts";
import type { Candidate } from "../../../routing/index.ts";
import { Copy, Segments } from "../../app/parts/button.tsx";
import { ProblemNote, Sheet, Skeleton } from "../../app/parts/sheet.tsx";
import { Mark } from "../../app/parts/state.tsx";
import { countText, msText } from "../../app/words.ts";
import type { Answer } from "../answers.ts";

/** The entity as its region answers: shown as text, never as a page. */

interface EntityProps {
  readonly shown: NonNullable<Answer["preview"]>;
  readonly chosen: Candidate | undefined;
  readonly onRetry: () => void;
}

export function EntitySheet({ shown, chosen, onRetry }: EntityProps) {
  const { problem, value } = shown;
  if (value !== undefined) return <Entity preview={value} chosen={chosen} />;
  return (
    <Sheet title={`This ${chosen?.entity ?? "entity"}`} isIn={problem !== undefined}>
      {problem ? (
        <ProblemNote problem={problem} {...(problem.status !== 403 && { onRetry })} />
      ) : (
        <Skeleton label="Asking its region" />
      )}
    </Sheet>
  );
}

function Entity({ preview, chosen }: { preview: EntityPreview; chosen: Candidate | undefined }) {
  const [view, setView] = useState<"fields" | "json">("fields");
  const { status, region, contentType, text, truncated, path, entity } = preview;
  const value = text === null ? undefined : jsonIn(text);
  const isGood = status < 400;
  return (
    <Sheet
      title={`This ${entity}, as ${region ?? "the gateway"} has it`}
      aside={
        <div class="row">
          <Mark mood={isGood ? "good" : "bad"} icon={isGood ? "good" : "bad"}>
            {status}
          </Mark>
          <small>{sizeText(preview)}</small>
          {text !== null && (
            <Segments
              label="Show as"
              value={view}
              options={[
                ["fields", "Fields"],
                ["json", "JSON"],
              ]}
              onChange={setView}
            />
          )}
        </div>
      }
      footer={
        <>
          <span>Sent as GET without your credentials. Shown as text.</span>
          <code>{path}</code>
        </>
      }
    >
      <div class="in" role="status">
        {truncated && <p class="soft">Only the beginning is shown.</p>}
        {text === null ? (
          <p>The answer is no JSON, but {contentType ?? "nothing"}.</p>
        ) : view === "json" ? (
          <>
            <Copy text={text} label="the JSON" name="Copy" kind="plain" />
            <pre class="json">{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
          </>
        ) : (
          <Fields value={value} minted={chosen?.mintedAt} />
        )}
      </div>
    </Sheet>
  );
}

function sizeText({ ms, bytes, text }: EntityPreview): string {
  const size = bytes === undefined || text === null ? "" : `${countText(bytes)} bytes of JSON`;
  return [ms === undefined ? "" : msText(ms), size].filter((part) => part !== "").join(", ");
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const NESTED_MAX = 6;

/** JSON as rows for people: what has parts is folded. */
function Fields({ value, minted, depth = 0 }: { value: unknown; minted: string | undefined; depth?: number }) {
  if (typeof value !== "object" || value === null || depth >= NESTED_MAX) {
    const isMinted = minted !== undefined && typeof value === "string" && isSameSecond(value, minted);
    return (
      <>
        {typeof value === "string" ? value : JSON.stringify(value)} {isMinted && <small>same as in the ID</small>}
      </>
    );
  }
  const members = Object.entries(value);
  if (members.length === 0) return <>none</>;
  return (
    <dl class="facts ruled nested">
      {members.map(([name, member]) => (
        <>
          <dt>{name}</dt>
          <dd>
            <Folded value={member}>
              <Fields value={member} minted={minted} depth={depth + 1} />
            </Folded>
          </dd>
        </>
      ))}
    </dl>
  );
}

function Folded({ value, children }: { value: unknown; children: preact.ComponentChildren }) {
  const parts = typeof value === "object" && value !== null ? Object.keys(value).length : 0;
  if (parts === 0) return <>{children}</>;
  return (
    <details>
      <summary>
        {countText(parts)} <span class="as-link">show</span>
      </summary>
      {children}
    </details>
  );
}

const SECOND_MS = 1_000;
const TIME = /^\d{4}-\d\d-\d\dT/;

const isSameSecond = (value: string, minted: string): boolean =>
  TIME.test(value) && Math.abs(Date.parse(value) - Date.parse(minted)) < SECOND_MS;
