/** A long list of which a screen shows a part. */
export interface ListWindow {
  readonly count: number;
  readonly height: number;
  /** Index of the selected row. */
  readonly selected: number;
  /** Index of the first row that was shown before. */
  readonly start: number;
}

/** The first row to show: as before, unless the selected row would not be seen. */
export function windowStart({ count, height, selected, start }: ListWindow): number {
  const last = Math.max(0, count - height);
  const needed = Math.min(Math.max(start, selected - height + 1), selected);
  return Math.max(0, Math.min(needed, last));
}
