/** The most characters of a name of an account or a key. */
const MOST = 80;
const CONTROL = /[\p{Cc}\p{Cs}]+/gu;

/** A name of theirs as it may stand here. @param otherwise where nothing of it is left */
export function nameOf(given: unknown, otherwise: string): string {
  const text = typeof given === "string" ? given.replace(CONTROL, " ").trim() : "";
  const cut = [...text].slice(0, MOST).join("").trim();
  return cut === "" ? otherwise : cut;
}

/** A name of theirs as an account of a provider may be called. @param otherwise where nothing of it is left */
export function accountNameFrom(given: string, otherwise: string): string {
  const name = given
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 28)
    .replace(/[-_]+$/, "");
  return name === "" ? otherwise : name;
}

/** What may be shown of a secret of theirs: a few characters at each end of a long one. */
export function displayOfForeign(key: string): string {
  return key.length < 16 ? "…" : `${key.slice(0, 5)}…${key.slice(-4)}`;
}
