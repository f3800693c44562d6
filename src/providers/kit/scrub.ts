/** Removes what must not be told from text that came from an upstream, and cuts it. */
export type Scrub = (text: string) => string;

const SHOWN = 300;
/** Shorter pieces of a key are too common to say anything of it. */
const TELLING = 8;
/** What keys look like, also when an upstream shows only their ends: `sk-…abcd`, `Bearer …`. */
const KEY_LIKE = [/\b(?:sk|pk|rk|mt)-[\w*.…-]{4,}/gi, /\b(?:Bearer|Key)\s+[\w.~+/:*=-]{6,}/g];
const MASK = "[secret]";

/** A scrub that knows the secrets of one upstream: neither they nor longer pieces of them survive it. */
export function createScrub(secrets: readonly string[]): Scrub {
  const pieces = [...new Set(secrets.flatMap(piecesOf))];
  return (text) => {
    // Longer than what is shown, so that a key at the cut is found whole; a whole answer would take too long to search.
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
/** Addresses, mail, identifiers, paths, markup: of the upstream or of our account there, and nothing to a customer. */
const NOT_PUBLIC = [
  /:\/\/|www\.|@|[<>{}\\`]|\[secret\]/i,
  /\b(?:req|org|proj|user|acct|account|file|team|key)[-_][A-Za-z0-9]{4,}/i,
  /[A-Za-z0-9_-]{24,}/,
  /(?:^|\s)\/[\w.-]+\//,
  /\b(?:api.?keys?|billing|quotas?|accounts?|organi[sz]ations?|credits?|balance|support|contact)\b/i,
];

/** An upstream's word on a bad input in a form its sender may see, or undefined when it says more than that. */
export function vetted(scrubbed: string | undefined): string | undefined {
  const text = scrubbed?.trim();
  if (text === undefined || text === "" || NOT_PUBLIC.some((pattern) => pattern.test(text))) return undefined;
  return text.length <= PUBLIC_SHOWN ? text : `${text.slice(0, PUBLIC_SHOWN).toWellFormed()}…`;
}
