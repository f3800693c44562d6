/** Which APIs a credential opens: those of models, or the management API. */
export type CredentialKind = "api_key" | "management_token";

/** Characters of randomness in every credential. */
export const CREDENTIAL_BODY_LENGTH = 32;
/** Digits, capitals, small letters, in the order of their values. */
export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const PREFIXES = { api_key: "sk-svc-", management_token: "mt-svc-" } as const satisfies Record<
  CredentialKind,
  string
>;
const PREFIX_LENGTH = 7;
const CHECKSUM_LENGTH = 6;
const BODY_END = PREFIX_LENGTH + CREDENTIAL_BODY_LENGTH;
const LENGTH = BODY_END + CHECKSUM_LENGTH;
const BODY = new RegExp(`^[0-9A-Za-z]{${CREDENTIAL_BODY_LENGTH}}$`);

/** Value of each character code in base 62; -1 for all others. */
const DIGIT = Int8Array.from({ length: 128 }, (_, code) => BASE62.indexOf(String.fromCharCode(code)));

/** CRC-32 of ISO 3309 (the one of zlib and PNG), a byte at a time. */
const CRC_OF_BYTE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** Prefix, 32 random base62 characters, and their CRC-32 in 6 more. @throws RangeError for any other body */
export function formatCredential(kind: CredentialKind, body: string): string {
  if (!BODY.test(body)) throw new RangeError("A credential's body is 32 base62 characters.");
  const unchecked = PREFIXES[kind] + body;
  return unchecked + toBase62(crcOf(unchecked, PREFIX_LENGTH, BODY_END));
}

/**
 * Tells the kind of a credential from its form and checksum. @returns undefined for a text that `formatCredential` did not make
 */
export function parseCredential(text: string): { readonly kind: CredentialKind } | undefined {
  if (text.length !== LENGTH) return undefined;
  const kind = kindOf(text);
  if (kind === undefined) return undefined;
  let checksum = 0;
  for (let i = PREFIX_LENGTH; i < LENGTH; i++) {
    const digit = DIGIT[text.charCodeAt(i)] ?? -1;
    if (digit < 0) return undefined;
    if (i >= BODY_END) checksum = checksum * 62 + digit;
  }
  return checksum === crcOf(text, PREFIX_LENGTH, BODY_END) ? { kind } : undefined;
}

/** What keys of other gateways look like: `sk-` and letters, digits, `-`, `_`, `.`. */
const FOREIGN = /^sk-(?!svc-)[A-Za-z0-9._-]{4,250}$/;

/**
 * Whether a text may be a key that another gateway made and that was imported. Only its hash decides whether it is one. A text that
 * begins like one of our own keys is no foreign key: its checksum identifies it already.
 */
export function isForeignKey(text: string): boolean {
  return FOREIGN.test(text);
}

/** The part of a credential that may be stored and shown, so that people recognise it: its first 11 and last 4 characters. */
export function displayOf(credential: string): string {
  return `${credential.slice(0, 11)}…${credential.slice(-4)}`;
}

function kindOf(text: string): CredentialKind | undefined {
  if (text.startsWith(PREFIXES.api_key)) return "api_key";
  if (text.startsWith(PREFIXES.management_token)) return "management_token";
  return undefined;
}

function crcOf(text: string, from: number, to: number): number {
  let crc = 0xffffffff;
  for (let i = from; i < to; i++) {
    // The table has an entry for every byte.
    crc = (CRC_OF_BYTE[(crc ^ text.charCodeAt(i)) & 0xff] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

function toBase62(value: number): string {
  let text = "";
  for (let rest = value; text.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62))
    text = BASE62.charAt(rest % 62) + text;
  return text;
}
