import { fragmentOf } from "../../app/router.ts";
import { mayView } from "../../app/session.ts";
import type { Part } from "../../routing/condition-words.ts";

/** Facts that lead on: where the reader may not go, they are words alone. */

export const LineLink = ({ line, isFirst }: { line: number; isFirst?: boolean }) => {
  const text = `${isFirst ? "Line" : "line"} ${line}`;
  return mayView.value ? <a href={fragmentOf("editor", { line: String(line) })}>{text}</a> : text;
};

export const RevisionLink = ({ revision }: { revision: number }) => {
  const text = `revision ${revision}`;
  return mayView.value ? <a href={fragmentOf("history", { revision: String(revision) })}>{text}</a> : text;
};

export const PartsText = ({ parts }: { parts: readonly Part[] }) => (
  <>{parts.map(({ text, isStrong }, at) => (isStrong ? <b key={at}>{text}</b> : text))}</>
);
