/** Whole micro-units of the one currency of an installation: 1_000_000 = 1 USD. Always a safe integer. */
declare const micros: unique symbol;
export type Micros = number & { readonly [micros]: true };

/** A sum of many amounts: a bigint where it is more than Micros can count, which the sums of a large installation may be. */
export type MicrosSum = Micros | bigint;

export const CURRENCY = "USD";
export const ZERO = 0 as Micros;

/** Checks that a number is a count of micro-units. @throws RangeError for fractions, NaN and anything beyond ±2^53-1 */
export function toMicros(value: number): Micros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`Not a whole number of micro-units: ${value}`);
  // The check above is what the brand stands for.
  return value as Micros;
}

const AMOUNT = /^(-?)(\d{1,9})(?:\.(\d{1,6}))?$/;
/** Sums may be larger than any one amount. */
const SUM = /^(-?)(\d{1,10})(?:\.(\d{1,6}))?$/;

/** Reads a decimal string such as `"0.04"` or `"-1.5"`; undefined when it is not one, or has more than six places. */
export function parseAmount(text: string): Micros | undefined {
  return microsOf(AMOUNT.exec(text));
}

/** As `parseAmount`, for what `formatAmount` wrote of any sum. */
export function readAmount(text: string): Micros | undefined {
  return microsOf(SUM.exec(text));
}

/** Reads what `formatAmount` wrote of any sum of many amounts. */
export function parseSum(text: string): MicrosSum | undefined {
  const [, digits, fraction] = /^(-?\d+)\.(\d{6})$/.exec(text) ?? [];
  return digits === undefined ? undefined : toSum(digits + fraction);
}

/** A sum of micro-units. @param whole a whole number, in digits where floating-point numbers cannot hold it */
export function toSum(whole: string | bigint): MicrosSum {
  const value = Number(whole);
  return Number.isSafeInteger(value) ? toMicros(value === 0 ? 0 : value) : BigInt(whole);
}

/** The sum of sums. */
export function addSums(sums: readonly MicrosSum[]): MicrosSum {
  return toSum(sums.reduce<bigint>((total, sum) => total + BigInt(sum), 0n));
}

/** What is left of one sum without the other. */
export function subtractSum(sum: MicrosSum, other: MicrosSum): MicrosSum {
  return toSum(BigInt(sum) - BigInt(other));
}

function microsOf(match: RegExpExecArray | null): Micros | undefined {
  if (!match) return undefined;
  const [, sign = "", whole = "0", fraction = ""] = match;
  const value = Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"));
  return Number.isSafeInteger(value) ? toMicros(sign === "-" && value !== 0 ? -value : value) : undefined;
}

/** The wire form: a decimal string with exactly six places, `"0.040000"`. A sum of many amounts may be a bigint. */
export function formatAmount(amount: MicrosSum): string {
  if (typeof amount === "bigint") return formatSum(amount);
  const absolute = Math.abs(amount);
  const whole = Math.floor(absolute / 1_000_000);
  const fraction = String(absolute % 1_000_000).padStart(6, "0");
  return `${amount < 0 ? "-" : ""}${whole}.${fraction}`;
}

function formatSum(sum: bigint): string {
  const absolute = sum < 0n ? -sum : sum;
  const fraction = String(absolute % 1_000_000n).padStart(6, "0");
  return `${sum < 0n ? "-" : ""}${absolute / 1_000_000n}.${fraction}`;
}

export function minMicros(one: Micros, other: Micros): Micros {
  return one < other ? one : other;
}

export function maxMicros(one: Micros, other: Micros): Micros {
  return one > other ? one : other;
}

/** Sums amounts. @throws RangeError when the sum leaves the safe integers */
export function sumMicros(amounts: readonly Micros[]): Micros {
  return toMicros(amounts.reduce((total, amount) => total + amount, 0));
}
