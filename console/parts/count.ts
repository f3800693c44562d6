const format = new Intl.NumberFormat();

/** A number as the reader's country writes it. */
export function countText(number: number): string {
  return format.format(number);
}

/** `1 result`, `2 results`. */
export function counted(number: number, what: string): string {
  return `${countText(number)} ${what}${number === 1 ? "" : "s"}`;
}
