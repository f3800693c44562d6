/** A multiplier that changes nothing. Multipliers are counted in millionths, so that prices stay whole numbers. */
export const ONE = 1_000_000;

/** The largest there is, a thousandfold. */
export const MAX_MULTIPLIER = 1000 * ONE;

const MULTIPLIER = /^(\d{1,4})(?:\.(\d{1,6}))?$/;

/** Reads a decimal such as `"1.25"` in millionths; undefined when it is not one, has more than six places, is 0 or above 1000. */
export function parseMultiplier(text: string): number | undefined {
  const [, whole, fraction = ""] = MULTIPLIER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const millionths = Number(whole) * ONE + Number(fraction.padEnd(6, "0"));
  return isMultiplier(millionths) ? millionths : undefined;
}

/** Whether a number is a multiplier in millionths: whole, above 0, at most a thousandfold. */
export function isMultiplier(millionths: number): boolean {
  return Number.isInteger(millionths) && millionths > 0 && millionths <= MAX_MULTIPLIER;
}

/** The shortest decimal that `parseMultiplier` reads as the same: `"1.25"`, `"1"`. */
export function formatMultiplier(millionths: number): string {
  const fraction = String(millionths % ONE)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const whole = String(Math.floor(millionths / ONE));
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
