/** Removes secrets from an upstream's text and shortens it. */
export type Scrub = (text: string) => string;

const SHOWN = 300;
/** Pieces shorter than this are too common to give a key away. */
const TELLING = 8;
/** The look of a key, even when an upstream shows only its ends: `sk-…abcd`, `Bearer …`. */
const KEY_LIKE = [/\b(?:sk|pk|rk|mt)-[\w*.…-]{4,}/gi, /\b(?:Bearer|Key)\s+[\w.~+/:*=-]{6,}/g];
const MASK = "[secret]";

/** Creates a scrub for one upstream's secrets. It removes them, and every piece of them that is long enough to tell. */
export function createScrub(secrets: readonly string[]): Scrub {
  const pieces = [...new Set(secrets.flatMap(piecesOf))];
  return (text) => {
    // Longer than what is shown, so that a key at the cut is still whole. Searching a whole answer would take too long.
    let clean = text.slice(0, SHOWN * 4);
    for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, MASK);
    for (const piece of pieces) clean = clean.replaceAll(piece, MASK);
    for (const pattern of KEY_LIKE) clean = clean.replace(pattern, MASK);
    const line = clean.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
    return line.length <= SHOWN ? line : `${line.slice(0, SHOWN).toWellFormed()}…`;
  };
}

function piecesOf(secret: string): string[] {
  const count = secret.length - TELLING + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => secret.slice(i, i + TELLING));
}

const PUBLIC_SHOWN = 160;
/** URLs, mail addresses, identifiers, paths and markup concern the upstream or our account there, never a customer. */
const NOT_PUBLIC = [
  /:\/\/|www\.|@|[<>{}\\`]|\[secret\]/i,
  /\b(?:req|org|proj|user|acct|account|file|team|key)[-_][A-Za-z0-9]{4,}/i,
  /[A-Za-z0-9_-]{24,}/,
  /(?:^|\s)\/[\w.-]+\//,
  /\b(?:api.?keys?|billing|quotas?|accounts?|organi[sz]ations?|credits?|balance|support|contact)\b/i,
];

/** Returns an upstream's message about a bad input if its sender may see it, undefined if it reveals more. */
export function vetted(scrubbed: string | undefined): string | undefined {
  const text = scrubbed?.trim();
  if (text === undefined || text === "" || NOT_PUBLIC.some((pattern) => pattern.test(text))) return undefined;
  return text.length <= PUBLIC_SHOWN ? text : `${text.slice(0, PUBLIC_SHOWN).toWellFormed()}…`;
}
