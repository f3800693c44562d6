/* Amounts are decimal texts with up to six places. They are added as whole millionths: a number would round. */

/** Sums may have a digit more than the amounts that are moved. */
const SUM = /^(-?)(\d{1,10})(?:\.(\d{1,6}))?$/;
const MOST = 1_000_000_000_000_000n;

/** Why a text is no amount that can be moved; undefined for one that can. */
export function amountProblem(text: string): string | undefined {
  const micros = microsOf(text.trim());
  if (micros === undefined) return "Type an amount like 5.00, with a point and at most six places.";
  if (micros >= MOST || micros <= -MOST) return "Type an amount of at most nine digits before the point.";
  return micros === 0n ? "An amount of zero moves nothing." : undefined;
}

/** Millionths; undefined for a text that is no amount. */
export function microsOf(text: string): bigint | undefined {
  const [, sign, whole, part = ""] = SUM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"));
  return sign === "-" ? -micros : micros;
}

/** The sum as the service writes amounts. */
export function addAmounts(one: string, other: string): string {
  const sum = (microsOf(one) ?? 0n) + (microsOf(other) ?? 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(7, "0");
  return `${sum < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
