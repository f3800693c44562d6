import { expect, test } from "bun:test";
import type { Egress } from "../../../src/domain/ports/egress.ts";
import type { HookCall } from "../../../src/domain/ports/provider.ts";
import { createFalProvider } from "../../../src/providers/fal/adapter.ts";
import { FAL_QUEUE } from "../../../src/providers/fal/settings.ts";
import { verifyEd25519 } from "../../../src/providers/kit/signed-calls.ts";
import { fakeClock } from "../../helpers/engine.ts";

const signal = new AbortController().signal;
const BODY = '{"request_id":"r1","status":"OK"}';
const NAMES = ["x-fal-webhook-request-id", "x-fal-webhook-user-id", "x-fal-webhook-timestamp"];

interface Signer {
  readonly jwk: object;
  sign(text: string): Promise<string>;
}

async function newSigner(): Promise<Signer> {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  return {
    jwk: await crypto.subtle.exportKey("jwk", pair.publicKey),
    sign: async (text) =>
      Buffer.from(await crypto.subtle.sign("Ed25519", pair.privateKey, Buffer.from(text))).toString("hex"),
  };
}

/** Signed as https://fal.ai/docs has it: id, user, time and the SHA-256 of the body, a line each. */
async function signed(signer: Signer, change: Partial<Record<string, string>> = {}): Promise<HookCall> {
  const sha256 = new Bun.CryptoHasher("sha256").update(BODY).digest("hex");
  const headers: Partial<Record<string, string>> = {
    ...Object.fromEntries(NAMES.map((name, i) => [name, ["r1", "u1", "1795269600"][i]])),
    "x-fal-webhook-signature": await signer.sign(`r1\nu1\n1795269600\n${sha256}`),
    ...change,
  };
  return { header: (name) => headers[name], body: new TextEncoder().encode(BODY) };
}

/** fal at its own address, whose keys are what `keys` gives. */
function fal(keys: () => unknown) {
  const clock = fakeClock();
  const asked: string[] = [];
  const fetchPublic: Egress["fetchMedia"] = async (url, { accept }) => {
    asked.push(`${accept} ${url}`);
    const text = JSON.stringify(keys());
    return (async function* () {
      yield new TextEncoder().encode(text);
    })();
  };
  const given = { apiKey: "id:secret", concurrency: 1, clock, fetchPublic };
  const { verifyHook } = createFalProvider({ ...given, baseUrl: FAL_QUEUE });
  if (verifyHook === undefined) throw new Error("It verifies nothing.");
  const moved = createFalProvider({ ...given, baseUrl: "https://queue.example.com" });
  return { clock, asked, moved, verify: (call: HookCall) => verifyHook(call, signal) };
}

test("calls of fal are told apart by one question for its keys, any of which may have signed", async () => {
  const [first, second, foreign] = [await newSigner(), await newSigner(), await newSigner()];
  const { asked, verify, moved } = fal(() => ({
    keys: [{ kty: "RSA" }, { ...first.jwk, x: "AAAA" }, first.jwk, second.jwk],
  }));
  expect([await verify(await signed(first)), await verify(await signed(second))]).toEqual([
    "genuine",
    "genuine",
  ]);
  expect(asked).toEqual(["application/json https://rest.fal.ai/.well-known/jwks.json"]);
  expect(await verify(await signed(foreign))).toBe("forged");
  for (const name of [...NAMES, "x-fal-webhook-signature"])
    for (const value of [undefined, "r2"])
      expect(await verify(await signed(first, { [name]: value }))).toBe("forged");
  expect(await verify({ ...(await signed(first)), body: new Uint8Array() })).toBe("forged");
  expect(moved.verifyHook).toBeUndefined();
});

test("new keys are asked for when the known ones prove nothing, once a minute at most", async () => {
  const [first, second] = [await newSigner(), await newSigner()];
  let keys = [first.jwk];
  const { asked, verify, clock } = fal(() => ({ keys }));
  expect(await verify(await signed(first))).toBe("genuine");
  keys = [second.jwk];
  for (let i = 0; i < 20; i++) expect(await verify(await signed(second))).toBe("forged");
  clock.advance(60_000);
  expect(await verify(await signed(second))).toBe("genuine");
  expect(asked).toHaveLength(2);
});

test("keys are asked for again after a day, and kept where they cannot be had then", async () => {
  const signer = await newSigner();
  let keys: unknown = { keys: [signer.jwk] };
  const { asked, verify, clock } = fal(() => keys);
  await verify(await signed(signer));
  clock.advance(86_400_000 - 1);
  await verify(await signed(signer));
  expect(asked).toHaveLength(1);
  clock.advance(1);
  keys = { error: "busy" };
  expect(await verify(await signed(signer))).toBe("genuine");
  expect(asked).toHaveLength(2);
});

test("calls count for their token alone while the keys cannot be had, whatever is there in their place", async () => {
  const signer = await newSigner();
  for (const keys of [
    {},
    [],
    { keys: [] },
    { keys: [{ ...signer.jwk, x: "AAAA" }] },
    "no JSON Web Key Set",
  ]) {
    const { verify, asked } = fal(() => keys);
    for (let i = 0; i < 3; i++) expect(await verify(await signed(signer))).toBe("unknown");
    expect(asked).toHaveLength(1);
  }
});

test("calls that come together ask for the keys once", async () => {
  const signer = await newSigner();
  const { verify, asked } = fal(() => ({ keys: [signer.jwk] }));
  const call = await signed(signer);
  expect(await Promise.all(Array.from({ length: 20 }, () => verify(call)))).toEqual(
    Array.from({ length: 20 }, () => "genuine" as const),
  );
  expect(asked).toHaveLength(1);
});

test("keys that do not come in time leave the call to its token", async () => {
  const verify = verifyEd25519(
    { keys: "https://keys.example.com", signed: NAMES, signature: "x-fal-webhook-signature" },
    {
      clock: fakeClock(),
      fetchPublic: (_, { signal: given }) =>
        new Promise((_resolve, reject) => given.addEventListener("abort", () => reject(given.reason))),
    },
  );
  const late = new AbortController();
  const verdict = verify(await signed(await newSigner()), late.signal);
  late.abort(new Error("late"));
  expect(await verdict).toBe("unknown");
});
