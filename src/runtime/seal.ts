import type { Seal } from "../domain/ports/runtime.ts";
import { createHmac } from "./hmac.ts";
import { readKeyFile } from "./key-file.ts";

export interface SealOptions {
  /** A key of 32 bytes in base64, or a passphrase. Without it the key is in the file. */
  readonly key?: string | undefined;
  /** What `key` was before; only opens. */
  readonly previousKey?: string | undefined;
  /** Where the key is that is made when none is given. Opens as well when one is. */
  readonly file: string;
}

/** `sealed.1.<id of the key>.<base64url of nonce, ciphertext and tag>` */
const SEALED = /^sealed\.1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;
const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** 32 bytes in base64, plain or for URLs. */
const KEY_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;
/** About 50 ms. The salt only keeps tables made for other programs from being of use. */
const PASSPHRASE = { salt: "svc secret key 1", cost: { N: 2 ** 14, r: 8, p: 1 } } as const;

/** For a signature, a file that was not there is looked for no more often. */
const LOOKED_FOR_EVERY_MS = 1_000;

/** Loaded when it is first needed, because few commands need it. */
const library = () => process.getBuiltinModule("node:crypto");

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Seals with AES-256-GCM. Reads or makes the key file when it is first needed. */
export function createSeal({ key, previousKey, file }: SealOptions): Seal {
  const given = key === undefined ? undefined : keyOf(key);
  const previous = previousKey === undefined ? undefined : keyOf(previousKey);
  let filed: Key | undefined;
  let missedAt = Number.NEGATIVE_INFINITY;

  function inFile(isMade: boolean): Key | undefined {
    const text = filed === undefined ? readKeyFile(file, isMade) : undefined;
    if (text !== undefined) filed = keyOf(text);
    return filed;
  }

  /** The key in the file, if it existed a moment ago. Otherwise every forged signature would cause a look-up. */
  function lately(): Key | undefined {
    if (filed !== undefined || performance.now() - missedAt < LOOKED_FOR_EVERY_MS) return filed;
    if (inFile(false) === undefined) missedAt = performance.now();
    return filed;
  }

  function current(isMade: boolean): Key | undefined {
    return given ?? inFile(isMade);
  }

  function keyWith(id: string): Key | undefined {
    return (
      [given, previous].find((each) => each?.id === id) ?? (inFile(false)?.id === id ? filed : undefined)
    );
  }

  return {
    seal(plain, boundTo) {
      const { id, bytes } = current(true) as Key; // One is made where there is none.
      const nonce = crypto.getRandomValues(Buffer.alloc(NONCE_BYTES));
      const cipher = library().createCipheriv(ALGORITHM, bytes, nonce).setAAD(Buffer.from(boundTo));
      const parts = [nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()];
      return `sealed.1.${id}.${Buffer.concat(parts).toString("base64url")}`;
    },
    open(stored, boundTo) {
      const [, id = "", body = ""] = SEALED.exec(stored) ?? [];
      const found = keyWith(id);
      return found === undefined ? undefined : decipher(found.bytes, Buffer.from(body, "base64url"), boundTo);
    },
    // One is made where there is none.
    sign: (text) => signatureOf(text, current(true) as Key),
    isSigned(text, signature) {
      const told = Buffer.from(signature, "base64url");
      const keys = [given, previous, lately()].filter((key) => key !== undefined);
      return keys.some((key) => {
        const expected = Buffer.from(signatureOf(text, key), "base64url");
        return told.length === expected.length && library().timingSafeEqual(told, expected);
      });
    },
    stateOf(stored) {
      const [, id] = SEALED.exec(stored) ?? [];
      if (id === undefined) return "clear";
      return id === current(false)?.id ? "sealed" : "sealed_before";
    },
  };
}

/** Undefined for what was changed, or belongs to something else. */
function decipher(key: Buffer, sealed: Buffer, boundTo: string): string | undefined {
  const tagAt = sealed.length - TAG_BYTES;
  if (tagAt < NONCE_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const opening = library().createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  opening.setAAD(Buffer.from(boundTo)).setAuthTag(sealed.subarray(tagAt));
  try {
    return Buffer.concat([opening.update(sealed.subarray(NONCE_BYTES, tagAt)), opening.final()]).toString();
  } catch {
    return undefined;
  }
}

const signing = new WeakMap<Key, (text: string) => string>();

/** By a key made from the one that seals: what it signs is never mistaken for another use of that. */
function signatureOf(text: string, of: Key): string {
  const sign = signing.getOrInsertComputed(of, ({ bytes }) =>
    createHmac(new Bun.CryptoHasher("sha256", bytes).update("svc signing key 1").digest()),
  );
  return sign(text);
}

function keyOf(text: string): Key {
  const { salt, cost } = PASSPHRASE;
  const bytes = KEY_TEXT.test(text)
    ? Buffer.from(text, "base64")
    : library().scryptSync(text, salt, KEY_BYTES, cost);
  const id = new Bun.CryptoHasher("sha256")
    .update("svc secret key\n")
    .update(bytes)
    .digest("hex")
    .slice(0, 16);
  return { id, bytes };
}
