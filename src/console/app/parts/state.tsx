import type { ComponentChildren } from "preact";
import type { RegionHealth, RegionState } from "../../../formats/region-state.ts";
import { Icon, type IconName } from "./icons.tsx";

export type Mood = "good" | "warn" | "bad" | "plain" | "info";

const STATES: Readonly<Record<RegionState, readonly [mood: Mood, icon: IconName, word: string]>> = {
  healthy: ["good", "good", "Healthy"],
  testing: ["warn", "testing", "Testing"],
  degraded: ["warn", "warn", "Degraded"],
  down: ["bad", "bad", "Down"],
  "not-asked": ["plain", "none", "Not asked yet"],
};

/** How a region is: a shape, a word and a colour. `children`: more of it, such as `since 21:39`. */
export function StateMark(props: { of: Pick<RegionHealth, "state">; isPill?: boolean; children?: ComponentChildren }) {
  const [mood, icon, word] = STATES[props.of.state];
  return (
    <Mark mood={mood} icon={icon} {...(props.isPill !== undefined && { isPill: props.isPill })}>
      {word} {props.children}
    </Mark>
  );
}

/** A state that is no region's, in the same form. */
export const Mark = (props: { mood: Mood; icon: IconName; isPill?: boolean; children: ComponentChildren }) => (
  <span class={`state ${props.mood} ${props.isPill ? "pill" : ""}`}>
    <Icon name={props.icon} />
    <span>{props.children}</span>
  </span>
);

export type TagKind = "plain" | "dashed" | "line" | "good" | "warn" | "bad" | "ink";

export const Tag = ({ kind = "plain", children }: { kind?: TagKind; children: ComponentChildren }) => (
  <span class={`tag ${kind}`}>{children}</span>
);

/** Dashed is read in the page, solid is what the gateway said. */
export const Stamp = ({ kind, children }: { kind: "read-here" | "confirmed"; children?: ComponentChildren }) => (
  <span class={kind === "confirmed" ? "stamp done" : "stamp"}>
    <Icon name={kind === "confirmed" ? "good" : "lock"} />
    <span>{children ?? (kind === "confirmed" ? "Confirmed by the gateway" : "Read here")}</span>
  </span>
);
