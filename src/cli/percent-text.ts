/** `12.5 %`; a part that is not nothing never says that it is. */
export const percentText = (percent: number): string =>
  percent > 0 && percent < 0.01 ? "less than 0.01 %" : `${Number(percent.toFixed(2))} %`;
