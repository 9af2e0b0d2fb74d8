/** `12.5 %`; a part never says that it is nothing or all. */
export const formatPercent = (percent: number): string => {
  if (percent > 0 && percent < 0.01) return "less than 0.01 %";
  if (percent < 100 && percent > 99.99) return "more than 99.99 %";
  return `${Number(percent.toFixed(2))} %`;
};
