import type { EntityLocation, Step } from "./move-steps.ts";

/** Where an entity is, in the cells of one line. */
export const formatLocation = (id: string, at: EntityLocation): readonly string[] => {
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

/** What is to be done after a step, for stderr. docs/guides/move-entities.md has the reasons, and how long to wait. */
export const formatNext = (step: Step["name"], isSame: boolean): string =>
  `next: ${step === "finish" && isSame ? KEPT : NEXT[step]}\n`;

const NEXT: Readonly<Record<Step["name"], string>> = {
  start: "publish the table, and copy what the entity has while it goes on; then `waybill move fence`",
  fence:
    "publish the table, or spare gateways the pause and do not; tell the old region fence with this epoch; copy the rest; tell the new region take with this epoch; then `waybill move switch`",
  switch: "publish the table; then tell the new region open, and after it the old one leave, with this epoch",
  finish: "publish the table; the routes lead there by themselves",
  abort: "publish the table; then tell the other region leave if it took a copy, and the old one open, with this epoch",
  gone: "publish the table; requests are answered 410 from then on",
};

const KEPT = "nothing to publish: the entries stay, since the routes lead elsewhere or may come to";
