import { regionNames } from "../session.ts";

/** A region has a shape and a colour by its place in the table: neither says anything alone. */
const SHAPES = [
  "M2 1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H2a1 1 0 0 1-1-1V2a1 1 0 0 1 1-1Z",
  "M5 0 10 5 5 10 0 5Z",
  "M.4 5a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0-9.2 0Z",
  "M5 .6 10 9.4H0Z",
  "M3.4.5h3.2v2.9h2.9v3.2H6.6v2.9H3.4V6.6H.5V3.4h2.9Z",
  "M5 9.4 0 .6h10Z",
  "M5 .4 9.3 2.7v4.6L5 9.6.7 7.3V2.7Z",
  "M5 .4a4.6 4.6 0 1 0 0 9.2 4.6 4.6 0 0 0 0-9.2Zm0 2.7a1.9 1.9 0 1 1 0 3.8 1.9 1.9 0 0 1 0-3.8Z",
];

/** From 1 to 8; those that the table does not name, such as one in a draft, have the last. */
export function regionPlace(name: string): number {
  const at = regionNames.value.indexOf(name);
  return at < 0 ? SHAPES.length : (at % SHAPES.length) + 1;
}

/** The class that gives a part the colour of a region, as `--r`. */
export const regionClass = (name: string): string => `r${regionPlace(name)}`;

/** By the name of a region, or by a place. */
export function Shape({ class: own = "", ...of }: ({ region: string } | { place: number }) & { class?: string }) {
  const place = "place" in of ? of.place : regionPlace(of.region);
  return (
    <svg class={`shape r${place} ${own}`} viewBox="0 0 10 10" aria-hidden="true">
      <path d={SHAPES[place - 1]} fill-rule="evenodd" />
    </svg>
  );
}

/** `isLeft`: struck through, since it goes from there. */
export const RegionChip = ({ name, isLeft, isBoxed }: { name: string; isLeft?: boolean; isBoxed?: boolean }) => {
  const inner = (
    <>
      <Shape region={name} />
      {name}
    </>
  );
  const own = `region ${isBoxed ? "chip" : ""}`;
  return isLeft ? <s class={`${own} gone`}>{inner}</s> : <span class={own}>{inner}</span>;
};
