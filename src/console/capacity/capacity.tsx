import { useEffect, useState } from "preact/hooks";
import { everyLayout, type Layout, type Capacity as Room } from "../../ids/index.ts";
import { call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Empty, Note, PageHead, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Facts, Share, Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { knownTable, reader } from "../app/session.ts";
import { percentText, plural, wholeText } from "../app/words.ts";
import { LoadFields, loadOf } from "../layouts/load.tsx";
import { loadText, oddsOf, yearOf, yearsLeft } from "../layouts/load-words.ts";
import { capacityFor } from "../layouts/try-layout.ts";
import { Directories } from "./directories.tsx";
import { FAR_BELOW, type Limit, limitsOf, moodOf, shareOf, type Uses } from "./limits.ts";
import "../style/ids.css";

/** How near the table is to its limits, how long its layouts last, keys of directories, packs. */
export default function Capacity() {
  const [uses, setUses] = useState<Uses>();
  const [problem, setProblem] = useState<Problem>();
  const known = knownTable.value;
  const load = async () => {
    const answer = await call<Uses>("/-/table/capacity");
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) setUses(answer.value);
  };
  useEffect(() => void load(), [known?.revision]);
  const layouts = usedLayouts();
  const limits = uses && limitsOf(uses, known?.declared, layouts);
  const [nearest] = limits ?? [];
  return (
    <>
      <PageHead title="Capacity" text="How near the table, its directories and its layouts are to their limits." />
      <div class="pile">
        {nearest && moodOf(shareOf(nearest)) !== undefined && <Nearest limit={nearest} />}
        <div class="two">
          <div class="pile">
            {problem && <ProblemNote isTop problem={problem} onRetry={() => void load()} />}
            <Limits limits={limits} isFailed={problem !== undefined} />
            <Lasting layouts={layouts} />
          </div>
          <div class="pile">
            <Directories />
            <Packs />
          </div>
        </div>
      </div>
    </>
  );
}

/** Layouts that an entity of the table uses. */
function usedLayouts(): readonly Layout[] {
  const { entities = {} } = knownTable.value?.declared ?? {};
  const names = new Set(Object.values(entities).flatMap(({ ids }) => ids.map(({ layout }) => layout)));
  return [...names].flatMap(
    (name) => reader.value.layout(name) ?? everyLayout.find((layout) => layout.name === name) ?? [],
  );
}

const Nearest = ({ limit }: { limit: Limit }) => (
  <Note
    isTop
    kind={moodOf(shareOf(limit)) === "bad" ? "bad" : "first"}
    title={`${limit.name}${limit.about === "" ? "" : `, ${limit.about}`}: ${percentText(shareOf(limit))} are taken`}
  >
    {wholeText(limit.max - limit.used)} are left. A table beyond a limit is refused: nothing that runs breaks.
  </Note>
);

function Limits({ limits, isFailed }: { limits: readonly Limit[] | undefined; isFailed: boolean }) {
  const [isWhole, setWhole] = useState(false);
  if (limits === undefined) {
    return isFailed ? null : (
      <section class="sheet">
        <Skeleton label="Loading the limits" lines={8} />
      </section>
    );
  }
  const near = limits.filter((limit) => shareOf(limit) >= FAR_BELOW);
  const far = limits.length - near.length;
  const shown = isWhole ? limits : near;
  return (
    <Sheet
      title="Limits, nearest first"
      aside={
        far > 0 &&
        !isWhole && (
          <Button kind="quiet" size="small" onClick={() => setWhole(true)}>
            {plural(far, "other is", "others are")} below {percentText(FAR_BELOW)}
          </Button>
        )
      }
    >
      <Table
        label="Limits"
        class="caps"
        columns={[
          { name: "Limit", class: "c-name" },
          { name: "Used", isNumber: true },
          { name: "Of", isNumber: true },
          { name: "Share", class: "wide c-int", isPlain: true },
        ]}
        rows={shown.map((limit) => ({ key: limit.key, cells: cellsOf(limit) }))}
      />
    </Sheet>
  );
}

function cellsOf(limit: Limit) {
  const mood = moodOf(shareOf(limit));
  return [
    <>
      {limit.name}
      {limit.about !== "" && <small>{limit.about}</small>}
    </>,
    wholeText(limit.used),
    <span key="of" class="soft">
      {wholeText(limit.max)}
    </span>,
    <Share key="share" of={shareOf(limit)} text={shareText(shareOf(limit))} {...(mood && { mood })} />,
  ];
}

/** Two digits are enough of a share; a little is not none. */
const shareText = (share: number): string => (share === 0 ? percentText(0) : percentText(Number(share.toPrecision(2))));

/** How long each layout lasts, and how likely two of its IDs are equal, for a load. */
function Lasting({ layouts }: { layouts: readonly Layout[] }) {
  if (layouts.length === 0) return null;
  const load = loadOf();
  const nowMs = gatewayNow();
  return (
    <Sheet
      title="How long the layouts last"
      footer={`Two equal IDs: for ${loadText(load)}. The gateway does not count the IDs of all services: write your own load.`}
    >
      <div class="in">
        <LoadFields />
      </div>
      <Table
        label="Layouts"
        class="lasting"
        columns={[
          { name: "Layout", class: "c-name" },
          { name: "Years left", class: "nowrap" },
          { name: "Time runs out in", class: "nowrap" },
          { name: "Two equal IDs", class: "wide" },
        ]}
        rows={layouts.map((layout) => {
          const capacity = capacityFor(layout, load);
          const end = capacity?.time?.endMs;
          return {
            key: layout.name,
            cells: [
              <a key="name" href={fragmentOf("layouts", { layout: layout.name })}>
                {layout.name}
              </a>,
              capacity?.time === undefined ? "no time in it" : yearsLeft(end, nowMs),
              capacity?.time === undefined ? "–" : yearOf(end),
              capacity === undefined
                ? "no figure: it is not made from a clock and random bits, or the load is no number"
                : equalInWords(capacity),
            ],
          };
        })}
      />
    </Sheet>
  );
}

/** Without random bits in common only minters with one node can make an ID twice. */
function equalInWords({ collisions, equalByNode, sameNode }: Room): string {
  if (collisions !== undefined) return oddsOf(collisions.probability);
  const node = equalByNode ?? sameNode;
  return node === undefined
    ? "none, while no number is handed out twice"
    : `${oddsOf(node)}, if two minters draw one node`;
}

function Packs() {
  const packs = Object.entries(knownTable.value?.declared.packs ?? {});
  return (
    <Sheet title="Packs" isIn={packs.length > 0}>
      {packs.length === 0 ? (
        <Empty icon="layouts" title="The table has no packs">
          They are for more key ranges than a table holds.
        </Empty>
      ) : (
        <Facts
          rows={packs.map(([name, { ranges, bytes, regions, sha256 }]) => [
            name,
            <>
              {plural(ranges, "range")}, {plural(bytes, "byte")}, to {regions.join(", ")}
              <br />
              <small>
                <code>{sha256}</code>
              </small>
            </>,
          ])}
        />
      )}
    </Sheet>
  );
}
