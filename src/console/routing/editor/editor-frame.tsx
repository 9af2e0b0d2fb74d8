import { useEffect, useRef, useState } from "preact/hooks";
import { Skeleton } from "../../app/parts/sheet.tsx";
import type { Editor } from "./editor.ts";

interface FrameProps {
  readonly text: string;
  /** The text in force: lines that differ are marked. */
  readonly original: string;
  readonly isReadOnly: boolean;
  readonly onReady: (editor: Editor) => void;
  readonly onChange: (text: string) => void;
}

/** The editor is loaded when the page is opened. */
export function EditorFrame({ text, original, isReadOnly, onReady, onChange }: FrameProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  const editor = useRef<Editor>(undefined);
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    let isGone = false;
    void import("./editor.ts").then(({ startEditor }) => {
      if (isGone || host.current === null) return;
      const own = startEditor(host.current, text, original, isReadOnly, (next) => latest.current(next));
      editor.current = own;
      onReady(own);
      setLoading(false);
    });
    return () => {
      isGone = true;
      editor.current?.stop();
    };
  }, [isReadOnly]);
  useEffect(() => editor.current?.setOriginal(original), [original]);
  return (
    <>
      {isLoading && <Skeleton label="Loading the editor" lines={8} />}
      <div ref={host} class="editor-host" />
    </>
  );
}
