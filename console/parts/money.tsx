const exact = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

/** An amount of the API, which is a decimal text, as the reader's country writes it. Never rounded. */
export function moneyText(amount: string): string {
  // The API's amounts are decimal numbers in text, which this takes as they are.
  return exact.format(amount as Intl.StringNumericLiteral);
}

export function Money({ amount }: { readonly amount: string | null | undefined }) {
  if (amount === null || amount === undefined) return <span class="text-soft">–</span>;
  return <span class="tabular-nums">{moneyText(amount)}</span>;
}
