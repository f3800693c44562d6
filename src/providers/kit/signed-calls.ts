import { isJsonObject, type Json } from "../../domain/json.ts";
import type { Egress } from "../../domain/ports/egress.ts";
import type { HookCall, ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

type Verify = NonNullable<ProviderAdapter["verifyHook"]>;

/** Upstreams that publish keys say that these may be kept for a day. */
const KEPT_MS = 86_400_000;
/** The proof of calls is fetched at most this often, whoever sends wrong signatures. */
const ASKED_EVERY_MS = 60_000;

/**
 * Verifies calls by something that is asked for when the first call comes, again after a day, and when it proves nothing, because it may
 * have been changed. While it cannot be had, calls are believed for their tokens alone: they only lead to a question. For the same reason
 * the time of a signature is not looked at: clocks that differ would cost every call.
 *
 * @param ask gives undefined, or throws, where it cannot be had
 */
export function verifyBy<Proof>(
  clock: Pick<Clock, "elapsed">,
  ask: (signal: AbortSignal) => Promise<Proof | undefined>,
  proves: (call: HookCall, proof: Proof) => boolean | Promise<boolean>,
): Verify {
  let proof: Proof | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  /** @returns whether it was asked for */
  async function renewed(afterMs: number, signal: AbortSignal): Promise<boolean> {
    if (asking === undefined && clock.elapsed() - askedAt < afterMs) return false;
    if (asking === undefined) {
      askedAt = clock.elapsed();
      asking = ask(signal)
        .then((given) => {
          proof = given ?? proof;
        })
        .catch(() => undefined)
        .finally(() => {
          asking = undefined;
        });
    }
    await asking;
    return true;
  }

  return async (call, signal) => {
    await renewed(proof === undefined ? ASKED_EVERY_MS : KEPT_MS, signal);
    if (proof === undefined) return "unknown";
    if (await proves(call, proof)) return "genuine";
    return (await renewed(ASKED_EVERY_MS, signal)) && (await proves(call, proof)) ? "genuine" : "forged";
  };
}

/** How an upstream signs with Ed25519. */
export interface Ed25519Calls {
  /** Where the public keys are, as a JSON Web Key Set. */
  readonly keys: string;
  /** Headers whose values are signed, a line each, with the SHA-256 of the body in hexadecimal as the last. */
  readonly signed: readonly string[];
  /** The header with the signature, in hexadecimal. */
  readonly signature: string;
}

const MOST_BYTES = 64 * 1024;
const MOST_KEYS = 16;

/** Verifies calls that are signed by one of the keys at an address. */
export function verifyEd25519(
  { keys: url, ...signed }: Ed25519Calls,
  {
    fetchPublic,
    clock,
  }: { readonly fetchPublic: Egress["fetchMedia"]; readonly clock: Pick<Clock, "elapsed"> },
): Verify {
  const ask = async (signal: AbortSignal) => {
    const pieces = await fetchPublic(url, { maxBytes: MOST_BYTES, signal, accept: "application/json" });
    const keys = await importKeys(JSON.parse(String(Buffer.concat(await Array.fromAsync(pieces)))));
    return keys.length > 0 ? keys : undefined;
  };
  return verifyBy(clock, ask, (call, keys) => isSignedByOne(call, signed, keys));
}

async function isSignedByOne(
  { header, body }: HookCall,
  { signed, signature }: Omit<Ed25519Calls, "keys">,
  keys: readonly CryptoKey[],
): Promise<boolean> {
  const told = header(signature) ?? "";
  if (!/^[0-9a-f]{128}$/i.test(told)) return false;
  const digest = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  const message = new TextEncoder().encode([...signed.map(header), digest].join("\n"));
  for (const key of keys)
    if (await crypto.subtle.verify("Ed25519", key, Buffer.from(told, "hex"), message)) return true;
  return false;
}

/** Those that can be used. */
async function importKeys(set: Json): Promise<CryptoKey[]> {
  const given = isJsonObject(set) && Array.isArray(set.keys) ? set.keys.slice(0, MOST_KEYS) : [];
  const imported = given.map(async (key) => {
    if (!isJsonObject(key) || key.kty !== "OKP" || key.crv !== "Ed25519" || typeof key.x !== "string")
      return [];
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.x };
    return crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]).catch(() => []);
  });
  return (await Promise.all(imported)).flat();
}

/**
 * Whether a call is signed with a secret as Standard Webhooks 1.0 has it: `webhook-id`, `webhook-timestamp`, `webhook-signature`
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, checked 2026-11-21).
 *
 * @param secret `whsec_` and base64
 */
export function isSignedWith({ header, body }: HookCall, secret: string): boolean {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(`webhook-${name}`),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = new Bun.CryptoHasher("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ", MOST_KEYS).some((each) => {
    const told = Buffer.from(each.replace(/^v1,/, ""), "base64");
    return (
      each.startsWith("v1,") && told.length === expected.length && crypto.timingSafeEqual(told, expected)
    );
  });
}
