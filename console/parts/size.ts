const UNITS = ["bytes", "KB", "MB", "GB", "TB"];
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** `2.1 GB`, `640 KB`. */
export function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${(unit < 2 ? whole : short).format(size)} ${UNITS[unit]}`;
}
