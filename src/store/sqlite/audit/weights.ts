/*
 * Sums by which rows are compared without being grouped. Every row counts with a weight that its place in the books decides: its number,
 * or its account, key, model and day. Sums of equal rows are equal; where an amount is another one, or belongs elsewhere, they differ, but for
 * one case in two thousand million. They find errors, and no forger who computes the weights.
 *
 * Whole numbers of 64 bits must hold every step: PostgreSQL refuses larger ones, and SQLite makes them inexact.
 */

/** A prime. What is summed is below it. */
const MODULUS = 2_147_483_647;
const FACTORS = [
  ...[15_485_863, 32_452_843, 49_979_687, 17_184_131, 22_801_763, 29_986_577, 37_139_213],
  ...[41_161_739, 46_273_897, 53_533_511, 59_604_703, 62_710_561, 65_588_423, 19_395_001],
];

/** A number of any size as one below the modulus, in SQL. */
export const reduced = (value: string): string => `(${value}) % ${MODULUS}`;

/** A number below the modulus that is made of numbers of any size, in SQL. */
export function mixed(values: readonly string[]): string {
  const terms = values.map((value, index) => {
    const factor = FACTORS[index];
    if (factor === undefined) throw new Error("There are more values than factors.");
    return `cast(${value} as bigint) % ${MODULUS} * ${factor}`;
  });
  return `((${terms.join(" + ")}) % ${MODULUS})`;
}

/** The weight of a place, in SQL: weights of places that differ evenly do not differ evenly. */
export function weightOf(place: readonly string[]): string {
  const at = mixed(place);
  return `(${at} * (${at} % 65521 + 1) % ${MODULUS})`;
}

/** The weight of a number, in SQL. */
export const weightOfNumber = (number: string): string => `(${number} % ${MODULUS} * 48271 % ${MODULUS})`;
/** The same, of a number at hand. */
export const weightOfNumberIn = (number: number): bigint => (BigInt(number) * 48_271n) % BigInt(MODULUS);

/** A value below the modulus with its weight, to be summed, in SQL. */
export const weighed = (weight: string, value: string): string => `${weight} * (${value}) % ${MODULUS}`;

/** A sum in SQL, as text. */
export const sumOf = (value: string): string => `cast(coalesce(sum(${value}), 0) as text)`;

/** A sum of weighed values, whatever its sign, as one number. */
export const remainder = (sum: bigint): bigint => {
  const modulus = BigInt(MODULUS);
  return ((sum % modulus) + modulus) % modulus;
};
