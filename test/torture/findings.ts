/** What a run found to be wrong, in the order it was found. */
export interface Findings {
  readonly all: readonly string[];
  add(text: string): void;
  /** Adds the text unless the claim holds. */
  check(claim: boolean, text: () => string): void;
}

export function createFindings(): Findings {
  const all: string[] = [];
  const add = (text: string) => void all.push(text);
  return {
    all,
    add,
    check(claim, text) {
      if (!claim) add(text());
    },
  };
}
