/**
 * What checking and compiling one table may still cost, in cells: about 30 bytes and a tenth of a microsecond each.
 * Whoever makes or walks something asks first, and gives up when refused; the table is then too complex.
 */
export class Budget {
  private readonly cells: number;
  private left: number;

  constructor(cells: number) {
    this.cells = cells;
    this.left = cells;
  }

  /** Whether so many cells were still to be had. Once they were not, none are. */
  spend(cells: number): boolean {
    this.left -= cells;
    return this.left >= 0;
  }

  /** More than there was once it is spent. */
  get used(): number {
    return this.cells - this.left;
  }

  get isSpent(): boolean {
    return this.left < 0;
  }
}
