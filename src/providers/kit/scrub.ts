import { withoutStretches } from "../../domain/masked.ts";

/** Removes secrets from an upstream's text and shortens it. */
export type Scrub = (text: string) => string;

const SHOWN = 300;
/** Pieces shorter than this are too common to give a key away. */
const TELLING = 8;
/** The look of a key, even when an upstream shows only its ends: `sk-…abcd`, `Bearer …`; and of the addresses where upstreams may call. */
const KEY_LIKE = [
  /(?:\/|%2F)hooks(?:\/|%2F)[\w-]{8,}/gi,
  /\b(?:sk|pk|rk|mt)-[\w*.…-]{4,}/gi,
  /\b(?:Bearer|Key)\s+[\w.~+/:*=-]{6,}/g,
];
const MASK = "[secret]";

/** Creates a scrub for one upstream's secrets. It removes them, and every piece of them that is long enough to tell. */
export function createScrub(secrets: readonly string[]): Scrub {
  return createSecrets(secrets).scrub;
}

/** Tokens and signatures are many, and old ones are worth nothing. */
const MOST_KEPT = 16;

/** The secrets of one upstream: those it was given, and the latest of those that were minted since. */
export function createSecrets(given: readonly string[]): {
  readonly scrub: Scrub;
  /** Removes secrets from a text of any length, and leaves the rest as it is. */
  readonly mask: Scrub;
  /** Whether one of them is in a file. */
  isIn(file: Uint8Array): boolean;
  keep(secret: string): void;
} {
  const known = new Map(given.map((secret) => [secret, piecesOf(secret)]));
  const minted = new Map<string, ReadonlySet<string>>();
  return {
    keep(secret) {
      if (secret === "" || known.has(secret)) return;
      const pieces = minted.get(secret) ?? piecesOf(secret);
      minted.delete(secret);
      minted.set(secret, pieces);
      const [oldest] = minted.keys();
      if (minted.size > MOST_KEPT && oldest !== undefined) minted.delete(oldest);
    },
    scrub(text) {
      // Longer than what is shown, so that a key at the cut is still whole. Searching a whole answer would take too long.
      let clean = text.slice(0, SHOWN * 4);
      const secrets = [...known, ...minted];
      for (const [secret] of secrets) if (secret !== "") clean = clean.replaceAll(secret, MASK);
      for (const [, pieces] of secrets) clean = withoutPieces(clean, pieces);
      for (const pattern of KEY_LIKE) clean = clean.replace(pattern, MASK);
      const line = clean.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
      return line.length <= SHOWN ? line : `${line.slice(0, SHOWN).toWellFormed()}…`;
    },
    isIn(file) {
      const content = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
      return [...known.keys(), ...minted.keys()].some(
        (secret) => secret.length >= TELLING && content.includes(secret),
      );
    },
    mask(text) {
      const secrets = [...known, ...minted];
      // A short piece, such as the first half of a key, may be an ordinary word.
      const forms = secrets.flatMap(([secret]) => (secret.length < TELLING ? [] : formsOf(secret)));
      let clean = text;
      for (const form of forms) clean = clean.replaceAll(form, MASK);
      if (clean.length > MOST_SEARCHED) return clean;
      for (const [, pieces] of secrets) clean = withoutPieces(clean, pieces);
      return clean;
    },
  };
}

/** Looking for pieces in longer texts would hold the process. They are files. */
const MOST_SEARCHED = 64 * 1024;

/** A secret as it is, in an address, in JSON and in base64. */
function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const encoded = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  const forms = [secret, encodeURIComponent(secret.toWellFormed()), inJson, encoded];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

const withoutPieces = (text: string, pieces: ReadonlySet<string>): string =>
  withoutStretches(text, { length: TELLING, isPiece: (piece) => pieces.has(piece), mask: MASK });

/** The pieces of a secret as it is, and as it looks in an address. */
function piecesOf(secret: string): ReadonlySet<string> {
  const pieces = new Set<string>();
  for (const form of [secret, encodeURIComponent(secret.toWellFormed())])
    for (let at = 0; at + TELLING <= form.length; at++) pieces.add(form.slice(at, at + TELLING));
  return pieces;
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
