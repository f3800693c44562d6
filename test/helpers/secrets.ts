import type { Secrets } from "../../src/domain/ports/runtime.ts";

/** Secrets anybody can tell beforehand. */
export function fakeSecrets(given: Partial<Secrets> = {}): Secrets {
  return {
    newBody: () => "",
    hash: (text) => text,
    hashPieces: async (pieces) => (await Array.fromAsync(pieces)).join(""),
    newSigningSecret: () => `whsec_${"A".repeat(43)}=`,
    sign: (secret, text) => `${text} by ${secret}`,
    ...given,
  };
}
