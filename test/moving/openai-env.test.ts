import { expect, test } from "bun:test";
import type { ProviderId } from "../../src/domain/ids.ts";
import { holdingsOfEnvironment, readEnvFile } from "../../src/moving/openai-env.ts";

test("a file of an environment has the values that a shell would give its variables", () => {
  const text = [
    ...["# a comment", "", "no line of its kind", 'export OPENAI_API_KEY="sk-1 " # its comment'],
    ...["  FAL_KEY = a:b#c # another", "BASE=https://gateway.example", "OPENAI_BASE_URL=${BASE}/v1"],
    ...["SAME=$FAL_KEY", 'QUOTED="$FAL_KEY!"', "LITERAL='${BASE}'", "BFL_API_KEY=${ELSEWHERE}", "PRICE=5$"],
  ].join("\r\n");
  expect(Object.fromEntries(readEnvFile(text).variables)).toEqual({
    OPENAI_API_KEY: "sk-1 ",
    FAL_KEY: "a:b#c",
    BASE: "https://gateway.example",
    OPENAI_BASE_URL: "https://gateway.example/v1",
    SAME: "a:b#c",
    QUOTED: "a:b#c!",
    LITERAL: "${BASE}",
    BFL_API_KEY: "${ELSEWHERE}",
    PRICE: "5$",
  });
});

test("a key that refers to a variable elsewhere stays there, and one whose address does keeps that address", () => {
  const environment = readEnvFile("OPENAI_API_KEY=sk-1\nOPENAI_BASE_URL=${GATEWAY}/v1\nFAL_KEY=$KEY_OF_FAL");
  const providers = [
    { id: "openai" as ProviderId, kinds: [["OPENAI_API_KEY"]] },
    { id: "fal" as ProviderId, kinds: [["FAL_KEY"]] },
  ];
  const { providerKeys, left } = holdingsOfEnvironment(environment, providers, ".env");
  expect(providerKeys.map(({ secrets, baseUrl }) => [secrets, baseUrl])).toEqual([
    [["sk-1"], "${GATEWAY}/v1"],
  ]);
  expect(left).toEqual([
    { kind: "provider_key", from: "FAL_KEY in .env", why: "it refers to a variable that is not there" },
  ]);
});

test("a file whose references double a value from line to line is refused", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `A${i + 1}=\${A${i}}$A${i}`);
  expect(() => readEnvFile(["A0=xx", ...lines].join("\n"))).toThrow("References make A16 longer than 65536");
  const long = "x".repeat(60_000);
  expect(readEnvFile(`A=${long}\nB=$A`).variables.get("B")).toBe(long);
});

test("what looks like a reference in single quotes is part of the key", () => {
  const environment = readEnvFile(
    "OPENAI_API_KEY='sk-$a'\nFAL_KEY=$OPENAI_API_KEY\nBFL_API_KEY=$B\nLUMA=$BFL_API_KEY",
  );
  const kinds = ["OPENAI_API_KEY", "FAL_KEY", "BFL_API_KEY", "LUMA"];
  const providers = kinds.map((each) => ({ id: each as ProviderId, kinds: [[each]] }));
  const { providerKeys, left } = holdingsOfEnvironment(environment, providers, ".env");
  expect(providerKeys.map(({ provider, secrets }) => [provider, ...secrets] as string[])).toEqual([
    ["OPENAI_API_KEY", "sk-$a"],
    ["FAL_KEY", "sk-$a"],
  ]);
  expect(left.map(({ from }) => from)).toEqual(["BFL_API_KEY in .env", "LUMA in .env"]);
});

test.each([
  ["OPENAI_API_KEY", "OPENAI_API_BASE", "https://gateway.example"],
  ["RUNWAYML_API_SECRET", "RUNWAYML_BASE_URL", "https://gateway.example"],
  ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "https://gateway.example"],
  ["FAL_KEY", "OPENAI_BASE_URL", undefined],
  ["XAI_API_KEY", "XAI_BASE_URL", undefined],
])("a key in %s comes with the address in %s", (key, base, address) => {
  const environment = readEnvFile(
    `${key}=a-key\n${base}=${base.startsWith("XAI") ? "" : "https://gateway.example"}`,
  );
  const providers = [{ id: "any" as ProviderId, kinds: [[key]] }];
  const { providerKeys } = holdingsOfEnvironment(environment, providers, ".env");
  expect(providerKeys.map(({ baseUrl }) => baseUrl)).toEqual([address]);
});
