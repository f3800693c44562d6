import { describe, expect, setSystemTime, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import {
  changeSigning,
  isSigningSecret,
  signatureHeaders,
  signingSecretsAt,
} from "../../../src/domain/callback/signature.ts";
import type { TaskId } from "../../../src/domain/ids.ts";
import { createSecrets } from "../../../src/runtime/secrets.ts";

/** The example that libraries of Standard Webhooks are tested with. */
const PUBLISHED = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  message: {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek" as TaskId,
    at: 1_614_265_330_000,
    body: '{"test": 2432232314}',
  },
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const [A, B] = [`whsec_${"A".repeat(32)}`, `whsec_${"B".repeat(32)}`];
const secrets = createSecrets();

/** What a library does on the other side, at that time; it throws for what it does not take. */
function verify(secret: string, headers: Record<string, string>, body: string, at: number): unknown {
  setSystemTime(at);
  try {
    return new Webhook(secret).verify(body, headers);
  } finally {
    setSystemTime();
  }
}

describe("a signature", () => {
  const { secret, message } = PUBLISHED;
  const headers = signatureHeaders(secrets, secret, message);

  test("is the published one for the published example", () => {
    expect(headers).toEqual({
      "webhook-id": message.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": PUBLISHED.signature,
    });
    expect(new Webhook(secret).sign(message.id, new Date(message.at), message.body)).toBe(
      PUBLISHED.signature,
    );
  });

  test("is taken for what was signed, and for nothing else", () => {
    expect(verify(secret, headers, message.body, message.at)).toEqual({ test: 2_432_232_314 });
    for (const [by, given, body] of [
      [A, headers, message.body],
      [secret, headers, `${message.body} `],
      [secret, { ...headers, "webhook-id": "msg_other" }, message.body],
      [secret, { ...headers, "webhook-timestamp": "1614265331" }, message.body],
    ] as const) {
      expect(() => verify(by, given, body, message.at)).toThrow("No matching signature found");
    }
  });

  test("is of the bytes that are sent, whatever characters the body has", () => {
    const body = '{"error":"Zeichen: ä, 🌊, \\u0000, \u2028"}';
    const signed = signatureHeaders(secrets, secret, { ...message, body });
    expect(verify(secret, signed, body, message.at)).toEqual(JSON.parse(body));
  });

  test("is made by both secrets while one takes the other's place, and by the new one alone after that", () => {
    const kept = changeSigning(A, { secret: B, previousUntil: message.at + 1 });
    const during = signatureHeaders(secrets, kept, message);
    expect(during["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const each of [A, B]) expect(verify(each, during, message.body, message.at)).toBeObject();
    const after = signatureHeaders(secrets, kept, { ...message, at: message.at + 1 });
    expect(verify(B, after, message.body, message.at)).toBeObject();
    expect(() => verify(A, after, message.body, message.at)).toThrow("No matching signature found");
  });
});

describe("a change of secrets", () => {
  const until = 1000;
  test.each<[string, string | undefined, string, number | undefined, readonly string[]]>([
    ["the first one is alone", undefined, A, until, [A]],
    ["without a grace the old one is gone", A, B, undefined, [B]],
    ["with a grace the old one goes on", A, B, until, [B, A]],
    ["of two, only the newer goes on", `${A} ${PUBLISHED.secret} 1000`, B, until, [B, A]],
    ["the same one again leaves the grace of the one before", `${B} ${A} 1000`, B, 2000, [B, A]],
    ["the same one again without a grace ends the one before", `${B} ${A} 1000`, B, undefined, [B]],
    ["the same one is not two", A, A, until, [A]],
  ])("%s", (_, before, secret, previousUntil, expected) => {
    const kept = changeSigning(before, { secret, previousUntil });
    expect(signingSecretsAt(kept, until - 1)).toEqual(expected);
    expect(signingSecretsAt(kept, until)).toEqual([secret]);
  });
});

describe("a secret", () => {
  test("that is made is one, and another one each time", () => {
    const made = Array.from({ length: 100 }, () => secrets.newSigningSecret());
    expect(made.every(isSigningSecret)).toBe(true);
    expect(new Set(made).size).toBe(100);
  });

  test("has 24 to 64 bytes", () => {
    const bySize = Array.from({ length: 80 }, (_, size) => `whsec_${new Uint8Array(size).toBase64()}`);
    const taken = bySize.flatMap((text, size) => (isSigningSecret(text) ? [size] : []));
    expect(taken).toEqual(Array.from({ length: 41 }, (_, i) => i + 24));
  });

  test.each([
    ["without the prefix", "A".repeat(32)],
    ["with another prefix", `WHSEC_${"A".repeat(32)}`],
    ["without its padding", `whsec_${"A".repeat(43)}`],
    ["with too much padding", `whsec_${"A".repeat(32)}====`],
    ["with bits that no byte has", `whsec_${"A".repeat(42)}B=`],
    ["in base64url", `whsec_${"A".repeat(31)}_`],
    ["with a space", `whsec_${"A".repeat(31)} `],
    ["with a line feed", `${A}\n`],
    ["twice", `${A} ${B}`],
  ])("%s is none", (_, text) => {
    expect(isSigningSecret(text)).toBe(false);
  });
});
