import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { Seal } from "../../domain/ports/runtime.ts";

/** Signs webhooks with a key of the data folder's own, which anybody can verify. */
export interface WebhookSigning {
  /** Ed25519, as hexadecimal digits. */
  sign(text: string): string;
  /** What verifies it: a JSON Web Key (RFC 8037). */
  publicKey(): JsonObject;
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The key is derived from the key that seals the data folder's secrets. So it is stored nowhere, and changes with that key. */
export function createWebhookSigning({ seal }: { readonly seal: Pick<Seal, "sign"> }): WebhookSigning {
  let key: KeyObject | undefined;
  const privateKey = () => {
    const der = Buffer.concat([PKCS8, Buffer.from(seal.sign("webhooks ed25519"), "base64url")]);
    key ??= createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    return key;
  };
  return {
    sign: (text) => sign(null, Buffer.from(text), privateKey()).toString("hex"),
    publicKey() {
      const { x = "" } = createPublicKey(privateKey()).export({ format: "jwk" });
      return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", x };
    },
  };
}
