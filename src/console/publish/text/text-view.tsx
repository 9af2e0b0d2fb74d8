import { useState } from "preact/hooks";
import { Button } from "../../app/parts/button.tsx";
import { plural } from "../../app/words.ts";
import type { Line, TextDiff } from "./text-lines.ts";
import "../../style/publish.css";

const SHOWN = 400;

/** Changed lines of a text with their neighbours. */
export function TextView({ diff: { lines }, isBare }: { diff: TextDiff; isBare?: boolean }) {
  const [most, setMost] = useState(SHOWN);
  if (lines.length === 0) return <p class="in soft">The texts are the same.</p>;
  return (
    <>
      <section
        class={isBare ? "scroll lines bare" : "scroll lines"}
        aria-label="Lines that differ"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard (WCAG 2.1.1)
        tabIndex={0}
      >
        {lines.slice(0, most).map((line, at) => (
          <LineOf key={at} line={line} />
        ))}
      </section>
      {lines.length > most && (
        <p class="in">
          <Button size="small" onClick={() => setMost(most + SHOWN)}>
            Show {plural(Math.min(SHOWN, lines.length - most), "more line")}
          </Button>
        </p>
      )}
    </>
  );
}

const SIGNS = {
  same: ["", "", ""],
  went: ["del", "−", "Removed: "],
  came: ["add", "+", "Added: "],
} as const;

function LineOf({ line }: { line: Line }) {
  if (line.is === "cut") {
    return (
      <div class="cut">
        <span>…</span>
        <span />
        <span>{line.count === 1 ? "1 line is the same" : `${plural(line.count, "line")} are the same`}</span>
      </div>
    );
  }
  const [own, sign, word] = SIGNS[line.is];
  const { text, mark } = line;
  return (
    <div class={own}>
      <span>{line.number}</span>
      <span aria-hidden="true">{sign}</span>
      <span>
        {word && <span class="hidden">{word}</span>}
        {mark === undefined || mark.from === mark.to ? (
          text
        ) : (
          <>
            {text.slice(0, mark.from)}
            <mark>{text.slice(mark.from, mark.to)}</mark>
            {text.slice(mark.to)}
          </>
        )}
      </span>
    </div>
  );
}
