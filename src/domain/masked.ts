/** How stretches of a text are found that must not be shown. */
export interface Telling {
  /** Characters; shorter stretches tell nothing. */
  readonly length: number;
  /** Whether a piece of that length is one of what is hidden. */
  readonly isPiece: (piece: string) => boolean;
  /** Stands in place of each stretch. */
  readonly mask: string;
}

/** Masks every stretch of a text that is made of such pieces. */
export function withoutStretches(text: string, { length, isPiece, mask }: Telling): string {
  let clean = "";
  let doneTo = 0;
  for (let at = 0; at + length <= text.length; at++) {
    if (!isPiece(text.slice(at, at + length))) continue;
    if (at > doneTo || doneTo === 0) clean += text.slice(doneTo, at) + mask;
    doneTo = at + length;
  }
  return clean + text.slice(doneTo);
}
