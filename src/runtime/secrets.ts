import { BASE62, CREDENTIAL_BODY_LENGTH } from "../domain/access/credential.ts";
import { SIGNING_PREFIX } from "../domain/callback/signature.ts";
import type { Secrets } from "../domain/ports/runtime.ts";

/** The largest multiple of 62 that fits a byte. Bytes from here on are discarded, so that all characters are equally likely. */
const UNBIASED = 248;

/** Randomness from the operating system, SHA-256 from the runtime. */
export function createSecrets(): Secrets {
  return {
    newBody: () => unbiasedBase62(CREDENTIAL_BODY_LENGTH, (bytes) => crypto.getRandomValues(bytes)),
    hash: (text) => Bun.SHA256.hash(text, "hex"),
    hashPieces: async (pieces) => {
      const hash = new Bun.SHA256();
      for await (const piece of pieces) hash.update(piece);
      return hash.digest("hex");
    },
    newSigningSecret: () =>
      SIGNING_PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
    sign: (secret, text) =>
      new Bun.CryptoHasher("sha256", Buffer.from(secret.slice(SIGNING_PREFIX.length), "base64"))
        .update(text)
        .digest("base64"),
  };
}

/** Returns `length` base62 characters, equally likely when the bytes are. */
export function unbiasedBase62(length: number, fill: (bytes: Uint8Array<ArrayBuffer>) => void): string {
  const bytes = new Uint8Array(length + 8);
  let text = "";
  while (text.length < length) {
    fill(bytes);
    for (const byte of bytes) {
      if (byte < UNBIASED && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
