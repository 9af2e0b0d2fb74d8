import { useMemo, useState } from "preact/hooks";
import { gatewayNow } from "../app/clock.ts";
import { download } from "../app/download.ts";
import { Button, Copy } from "../app/parts/button.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Sheet } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { knownTable, reader } from "../app/session.ts";
import { clockText, countryName, countText, plural } from "../app/words.ts";
import { BitStrip } from "../lookup/label/bits.tsx";
import { IdText } from "../lookup/label/label.tsx";
import { csvOf } from "../lookup/list/sheet.ts";
import { knownOf } from "../lookup/verdict/known.ts";

export interface Minted {
  readonly entity: string;
  readonly layout: string;
  /** Where all go, if it is one. */
  readonly region?: string;
  /** One for each ID, in their order. */
  readonly regions?: readonly string[];
  readonly ids: readonly string[];
  readonly at: number;
  readonly country?: string;
}

const SHOWN = 50;

/** The IDs with their regions, as the gateway said them. */
export function MintedIds({ minted }: { minted: Minted }) {
  const { ids, entity, layout, country, region, regions } = minted;
  const [shown, setShown] = useState(SHOWN);
  const regionAt = (at: number): string | undefined => regions?.[at] ?? region;
  // Only those in view: each is read like a pasted one.
  const strips = useMemo(() => ids.slice(0, shown).map(stripOf), [ids, shown, knownTable.value]);
  const csv = useMemo(() => csvOf([["ID", "Region"], ...ids.map((id, at) => [id, regionAt(at)])]), [minted]);
  const where =
    region !== undefined
      ? `All go to ${region}.`
      : regions === undefined
        ? "The gateway named no region."
        : `They go to ${[...new Set(regions)].join(" and ")}.`;
  return (
    <Sheet
      title={`${plural(ids.length, `${entity} ID`)}${country ? ` of ${countryName(country)}` : ""}`}
      aside={<Files ids={ids} csv={csv} />}
    >
      <p class="in about" role="status">
        {where} The gateway said so at {clockText(minted.at / 1000, true)}, in layout {layout}.
      </p>
      {ids.length === 1 && strips[0] && (
        <div class="in">
          <BitStrip of={strips[0]} />
        </div>
      )}
      <ul class="id-rows">
        {ids.slice(0, shown).map((id, at) => (
          <li key={id}>
            <a href={fragmentOf("look-up", { id })}>
              <IdText text={id} of={strips[at]} />
            </a>
            <RegionCell name={regionAt(at)} />
            <Copy text={id} label={id} />
          </li>
        ))}
      </ul>
      {ids.length > shown && (
        <footer>
          <span>
            {countText(shown)} of {countText(ids.length)}
          </span>
          <Button size="small" onClick={() => setShown(ids.length)}>
            Show all
          </Button>
        </footer>
      )}
    </Sheet>
  );
}

const Files = ({ ids, csv }: { ids: readonly string[]; csv: string }) => (
  <div class="row">
    <Copy text={ids.join("\n")} label="all IDs" name="Copy all" kind="plain" />
    <Button size="small" icon="download" onClick={() => download("waybill-minted.csv", "text/csv", csv)}>
      CSV
    </Button>
  </div>
);

const stripOf = (id: string) =>
  knownOf({
    reader: reader.value,
    pasted: { source: id, id, path: undefined },
    asked: undefined,
    table: knownTable.value,
    keyed: [],
    canary: undefined,
    nowMs: gatewayNow(),
  }).strip;

const RegionCell = ({ name }: { name: string | undefined }) => (
  <span>{name === undefined ? <span class="hidden">region not known</span> : <RegionChip name={name} />}</span>
);
