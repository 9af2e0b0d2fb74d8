import { useMemo, useState } from "preact/hooks";
import { positionsOf } from "../../../formats/console/positions.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { Search } from "../../app/parts/fields.tsx";
import { countText } from "../../app/words.ts";
import { entryName, FOUND_MAX, found, type OutlinePart, outlineOf } from "./outline-parts.ts";

interface Props {
  readonly text: string;
  /** The table, if the text has no fault. */
  readonly table: DeclaredTable | undefined;
  readonly onJump: (pointer: string) => void;
}

/** The parts of the table by name: a jump to each. */
export function Outline({ text, table, onJump }: Props) {
  const [asked, setAsked] = useState("");
  const parts = useMemo(() => outlineOf(positionsOf(text)), [text]);
  return (
    <nav class="outline" aria-label="Outline of the table">
      <Search label="Jump to a name" value={asked} onInput={setAsked} />
      {asked.trim() === "" ? (
        <ul>
          {parts.map((part) => (
            <Part key={part.pointer} part={part} table={table} onJump={onJump} />
          ))}
        </ul>
      ) : (
        <Hits parts={parts} asked={asked} table={table} onJump={onJump} />
      )}
    </nav>
  );
}

function Part({ part, table, onJump }: Omit<Props, "text"> & { part: OutlinePart }) {
  const [isOpen, setOpen] = useState(false);
  const { pointer, name, entries } = part;
  if (entries.length === 0) return <Jump name={name} onClick={() => onJump(pointer)} />;
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {name} <span class="faint">{countText(entries.length)}</span>
        </summary>
        {isOpen && (
          <ul>
            {entries.slice(0, FOUND_MAX).map((entry) => (
              <Jump key={entry.pointer} name={entryName(entry, table)} onClick={() => onJump(entry.pointer)} />
            ))}
            {entries.length > FOUND_MAX && (
              <li class="soft">{countText(entries.length - FOUND_MAX)} more: type a name above.</li>
            )}
          </ul>
        )}
      </details>
    </li>
  );
}

function Hits({ parts, asked, table, onJump }: Omit<Props, "text"> & { parts: readonly OutlinePart[]; asked: string }) {
  const { hits, all } = useMemo(() => found(parts, asked, table), [parts, asked, table]);
  if (all === 0) return <p class="soft">No part of the table has this name.</p>;
  return (
    <>
      <ul>
        {hits.map(({ pointer, name, part }) => (
          <Jump key={pointer} name={name === part ? part : `${part}: ${name}`} onClick={() => onJump(pointer)} />
        ))}
      </ul>
      {all > hits.length && <p class="soft">{countText(all - hits.length)} more: type more of the name.</p>}
    </>
  );
}

const Jump = ({ name, onClick }: { name: string; onClick: () => void }) => (
  <li>
    <button type="button" class="jump" onClick={onClick}>
      {name}
    </button>
  </li>
);
