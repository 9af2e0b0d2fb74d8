import type { Step, Whereabouts } from "./move-steps.ts";

/** Where an entity is, in the cells of one line. */
export const whereaboutsCells = (id: string, at: Whereabouts): readonly string[] => {
  switch (at.state) {
    case "routed":
      return [id, at.region ?? "nowhere", "by the routes"];
    case "moved":
      return [id, at.region, at.epoch === undefined ? "moved" : `moved, epoch ${at.epoch}`];
    case "gone":
      return [id, "nowhere", `gone, epoch ${at.epoch}`];
    default:
      return [id, `${at.from} → ${at.to}`, `${at.state}, epoch ${at.epoch}`];
  }
};

/** What is to be done after a step, for stderr. docs/moving.md has the reasons, and how long to wait. */
export const nextText = (step: Step["name"], isSame: boolean): string =>
  `next: ${step === "finish" && isSame ? KEPT : NEXT[step]}\n`;

const NEXT: Readonly<Record<Step["name"], string>> = {
  start: "publish the table and begin to copy; then `waybill move fence`",
  fence:
    "publish the table; tell the old region to refuse writes up to this epoch; copy the rest, and let the new region take writes above this epoch only; then `waybill move switch`",
  switch:
    "publish the table; tell the new region that the entity is its own, and then the old one to answer 421 with the new one's name",
  finish: "publish the table; the routes lead there by themselves",
  abort: "publish the table; the old region takes writes again with this epoch, and the new one drops its copy",
  gone: "publish the table; requests are answered 410 from then on",
};

const KEPT =
  "nothing to publish: the entries stay, since the routes lead elsewhere or may come to; the old region can drop its copy, not its 421";
