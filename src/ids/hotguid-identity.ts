import { hotguid, hotguidSql } from "./builtin.ts";
import { fieldOf } from "./fields.ts";
import type { Layout, Words } from "./layout.ts";
import type { RandomWords } from "./mint.ts";
import { err, ok, type Result } from "./result.ts";

/** The machine (24 bits) and process (16 bits) in a HotGuid. */
export interface HotguidIdentity {
  readonly machine: number;
  readonly process: number;
}

/** No identity distinguishes this form of HotGuid from this layout. */
export interface IdentityError {
  readonly reason: "no-identity";
  readonly form: string;
  readonly layout: string;
}

/** About one random identity in three avoids the UUID versions, so this many failures are no accident. */
const DRAWS_MAX = 1000;

/**
 * Generates an identity whose IDs never parse as a layout of `avoid`, whatever their time, counter and shard key. For
 * each form and each layout with fixed bits, an identity bit contradicts a fixed bit. `forms` are the forms in which
 * the IDs appear.
 */
export const hotguidIdentity = (
  entropy: RandomWords,
  avoid: readonly Layout[],
  forms: readonly Layout[] = [hotguid, hotguidSql],
): Result<HotguidIdentity, IdentityError> => {
  const rivals = avoid.filter(
    (layout) => layout.fixedBits > 0 && layout.fixed.mask.length === hotguid.fixed.mask.length,
  );
  const pairs = forms.flatMap((form) => rivals.map((layout) => ({ form, layout, identityMask: identityMaskOf(form) })));
  let clash: (typeof pairs)[number] | undefined;
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const identity = { machine: entropy.word() & 0xffffff, process: entropy.word() & 0xffff };
    clash = pairs.find(({ form, layout, identityMask }) => !differs(wordsOf(form, identity), layout, identityMask));
    if (clash === undefined) return ok(identity);
  }
  const { form, layout } = clash as (typeof pairs)[number];
  return err({ reason: "no-identity", form: form.name, layout: layout.name });
};

const identityMaskOf = (form: Layout): Words => {
  const { mask: process } = fieldOf(form, "process");
  return fieldOf(form, "machine").mask.map((bits, word) => bits | (process[word] as number));
};

const wordsOf = (form: Layout, identity: HotguidIdentity): Words => {
  const words = form.fixed.value.slice();
  fieldOf(form, "machine").write(words, identity.machine);
  fieldOf(form, "process").write(words, identity.process);
  return words;
};

/** Whether an identity bit contradicts a fixed bit of the layout. */
const differs = (words: Words, { fixed }: Layout, identityMask: Words): boolean =>
  words.some(
    (word, index) =>
      ((word ^ (fixed.value[index] as number)) & (fixed.mask[index] as number) & (identityMask[index] as number)) !== 0,
  );
