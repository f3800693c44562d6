/** How much free space is too little: in megabytes, by the size of the disk, or never. */
export type DiskMark = number | "auto" | undefined;

/** Below `warn` the operator is warned; below `refuse` new tasks are refused. */
export interface DiskMarks {
  readonly warn: DiskMark;
  readonly refuse: DiskMark;
}

const MB = 1_000_000;

/**
 * What `auto` stands for: a share of the disk, within bounds. A share of a large disk is more than anybody needs, and a few
 * results use up a share of a small one. If the lower bound would be much of the disk, a larger share applies.
 */
const AUTO = {
  warn: { share: 0.05, least: 500 * MB, most: 20_000 * MB, ofSmall: 0.2 },
  refuse: { share: 0.01, least: 100 * MB, most: 5_000 * MB, ofSmall: 0.1 },
} as const;

/** What `auto` stands for, in words. */
export const AUTO_TEXTS = {
  warn: "auto: 5 % of the disk, 500 to 20,000",
  refuse: "auto: 1 % of the disk, 100 to 5,000",
} as const;

/** @returns bytes; 0 for never */
export function markBytes(mark: DiskMark, which: keyof DiskMarks, totalBytes: number): number {
  if (mark === undefined) return 0;
  if (mark !== "auto") return mark * MB;
  const { share, least, most, ofSmall } = AUTO[which];
  return Math.floor(Math.min(Math.max(totalBytes * share, least), most, totalBytes * ofSmall));
}
