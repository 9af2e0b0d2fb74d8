import { formatOf } from "../app/words.ts";

const tenths = formatOf(
  (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);
const hundredths = formatOf((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }));

/** `27.7 %`; what is there is never shown as none. */
export function shareText(share: number): string {
  const percent = share * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.01) return "less than 0.01 %";
  return `${(percent < 0.1 ? hundredths : tenths).format(percent)} %`;
}
