import type { TableFeature } from "../../../routing/feature.ts";
import { nameTest, nearTest } from "../../../routing/lookup/values.ts";
import { claimPathOf } from "../../../routing/resolve/region-sources.ts";
import type { DeclaredPlace } from "./schema.ts";
import type { IdPlace, IdPlaces } from "./types.ts";

const PEEK_BYTES = 16_384;

/** `undefined` where nothing is declared: such requests pay for nothing. `owner`: the entity that declares the places. */
const placesOf = (declared: readonly DeclaredPlace[] | undefined, owner: string | undefined): IdPlaces | undefined => {
  if (declared === undefined) return undefined;
  const places = declared.map((place) => placeOf(place, owner));
  const inBody = declared.filter(isInBody);
  return Object.freeze({
    places,
    readsToken: places.some(({ kind }) => kind === "claim"),
    peekBytes: Math.max(0, ...inBody.map(({ withinBytes = PEEK_BYTES }) => withinBytes)),
    passesOtherTypes: inBody.every(({ otherTypes }) => otherTypes === "pass"),
  });
};

export const isInBody = ({ json, form }: DeclaredPlace): boolean => json !== undefined || form !== undefined;

const testsOf = (name: string) => ({ test: nameTest(name), near: nearTest(name) });

/** The check has made sure that a place has one kind, and an entity. */
function placeOf(declared: DeclaredPlace, owner: string | undefined): IdPlace {
  const { query, header, cookie, json, form, jwtClaim, entity = owner, list = false } = declared;
  if (entity === undefined) throw new Error("a place of no entity was not checked");
  const of = { entity, isList: list };
  if (query !== undefined)
    return { ...of, kind: "query", label: `query parameter ${query}`, name: query, ...testsOf(query) };
  if (header !== undefined) {
    const name = header.toLowerCase();
    return { ...of, kind: "header", label: `header ${name}`, name };
  }
  if (cookie !== undefined) return { ...of, kind: "cookie", label: `cookie ${cookie}`, name: cookie };
  if (form !== undefined) return { ...of, kind: "form", label: `form field ${form}`, name: form, ...testsOf(form) };
  if (jwtClaim !== undefined) {
    return { ...of, kind: "claim", label: `claim ${jwtClaim} of the bearer token`, path: claimPathOf(jwtClaim) };
  }
  if (json === undefined) throw new Error("a place without a kind was not checked");
  const label = json === "" ? "the body" : `member ${json} of the body`;
  return { ...of, kind: "json", label, path: json === "" ? [] : claimPathOf(json) };
}

const headersOf = (places: IdPlaces | undefined): readonly string[] =>
  (places?.places ?? []).flatMap((place) => (place.kind === "header" ? place.name : []));

export const placesTable: TableFeature = {
  name: "places",
  compile: () => ({
    entity: (name, declared) => ({ idIn: placesOf(declared?.idIn, name) }),
    withoutId: (declared) => {
      const idIn = placesOf(declared.idIn, undefined);
      return {
        idIn,
        idPlaces: idIn?.places.map(({ label, entity }) => `${entity} in ${label}`),
        idFields: idIn?.places.flatMap((place) => {
          const { kind, label, entity } = place;
          return kind === "query" || kind === "header" || kind === "cookie"
            ? [{ kind, name: place.name, label, entity }]
            : [];
        }),
      };
    },
    headersRead: ({ entities, withoutId }) =>
      [...entities.values(), ...withoutId.entries].flatMap(({ idIn }) => headersOf(idIn)),
  }),
};
