import { RegionChip } from "../app/parts/region.tsx";
import type { Part } from "./condition-words.ts";
import type { Goal } from "./route-words.ts";

/** Words of routes on the page. */

export const Words = ({ parts }: { parts: readonly Part[] }) => (
  <>{parts.map(({ text, isStrong }, at) => (isStrong ? <b key={at}>{text}</b> : <span key={at}>{text}</span>))}</>
);

export const Goes = ({ goes }: { goes: readonly Goal[] }) => (
  <span class="goes">
    {goes.map((goal, at) =>
      "region" in goal ? <RegionChip key={at} name={goal.region} isBoxed /> : <span key={at}>{goal.text}</span>,
    )}
  </span>
);
