import { Icon } from "../../app/parts/icons.tsx";
import { RegionChip } from "../../app/parts/region.tsx";
import type { Target } from "../diff-words.ts";
import type { Words } from "./words.ts";

export const Said = ({ words }: { words: Words }) => (
  <>{words.map(({ text, isStrong }, at) => (isStrong ? <b key={at}>{text}</b> : text))}</>
);

const Place = ({ of, isLeft }: { of: Target; isLeft?: boolean }) =>
  of.region === undefined ? (
    <span class={isLeft ? "was" : ""}>{of.words}</span>
  ) : (
    <RegionChip name={of.region} {...(isLeft && { isLeft })} />
  );

/** From one place to the other. */
export const FromTo = ({ from, to }: { from: Target; to: Target }) => (
  <span class="to">
    <span class="hidden">from </span>
    <Place of={from} isLeft />
    <Icon name="arrow" />
    <span class="hidden"> to </span>
    <Place of={to} />
  </span>
);
