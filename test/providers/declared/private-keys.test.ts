import { afterAll, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import type { LaneId } from "../../../src/domain/ids.ts";
import { defineDeclared } from "../../../src/providers/declared/definition.ts";
import { headOf } from "../../../src/providers/declared/head.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { createUsedForms } from "../../../src/providers/declared/used-forms.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";

const upstream = await startUpstream(() => ({ json: {} }));
afterAll(() => upstream.stop());

const formOf = (auth: string) =>
  readForm(
    "signed.yaml",
    `provider: signed
form: 1
base: https://api.signed.example
auth: { ${auth}, env: { id: SIGNED_ID, private_key: SIGNED_KEY } }
test: { get: /me }
submit: { post: /jobs, outputs: { url: "\${body.url}" } }
`,
  );
const FORM = formOf(
  'jwt: { alg: RS256, key: "${private_key}", claims: { iss: "${id}", exp: "${now + 1800}" } }',
);
const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

/** The secret as the settings take it, or what they say it must be. */
function taken(form: typeof FORM, text: string): string {
  const table = defineDeclared(headOf(form), async () => loadForm(form, "hash", "")).settings({ cores: 1 });
  const entry = table.private_key;
  if (entry?.kind !== "credential" || entry.parse === undefined) throw new Error("It takes no private key.");
  const parsed = entry.parse(text);
  return parsed.ok ? parsed.value : parsed.expected;
}

test.each([
  ["as its file has it", privateKey],
  ["in one line, as files of service accounts have it", privateKey.trim().replaceAll("\n", "\\n")],
  ["with the line breaks of another system", privateKey.replaceAll("\n", "\r\n")],
])("a private key is taken %s, and signs", async (_, text) => {
  const definition = defineDeclared(headOf(FORM), async () => loadForm(FORM, "hash", ""));
  const secrets = { id: createSecret("us"), private_key: createSecret(taken(FORM, text)) };
  const account = { name: "default", lane: "signed" as LaneId, secrets, baseUrl: upstream.origin };
  const deps = { clock: fakeClock(), directory: "", usedForms: async () => createUsedForms("") };
  const adapter = await definition.create(account, { concurrency: 1 }, deps);
  expect(await adapter.test?.(new AbortController().signal)).toMatchObject({ kind: "ok" });
  const [, head, claims, signature = ""] =
    /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(
      upstream.arrived.at(-1)?.headers.get("authorization") ?? "",
    ) ?? [];
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(claims ?? "", "base64url").toString())).toMatchObject({ iss: "us" });
});

test.each([
  privateKey.replaceAll("PRIVATE", "RSA PRIVATE"),
  privateKey.slice(0, -10),
  "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
  "two words",
])("what is no private key is none, and is not shown: %#", (text) => {
  expect(taken(FORM, text)).toBe(
    "a key: up to 512 printable ASCII characters without spaces; or a private key in PEM (PKCS #8, BEGIN PRIVATE KEY)",
  );
});

test("the signature of an assertion takes a private key too, and others take none", () => {
  const assertion = '{ alg: RS256, key: "${private_key}", claims: { iss: "${id}" } }';
  const signed = formOf(`oauth: { token_url: /token, assertion: ${assertion} }`);
  expect(taken(signed, privateKey)).toBe(privateKey.trim());
  expect(taken(signed, "a-key")).toBe("a-key");
  const shared = formOf('jwt: { alg: HS256, key: "${private_key}", claims: { iss: "${id}" } }');
  expect(() => taken(shared, privateKey)).toThrow("It takes no private key.");
});
