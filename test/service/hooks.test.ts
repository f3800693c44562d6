import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptId } from "../../src/domain/ids.ts";
import type { HookCall, ProviderAdapter } from "../../src/domain/ports/provider.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import type { Attempt } from "../../src/domain/task/task.ts";
import { createSeal } from "../../src/runtime/seal.ts";
import { createHookTokens, createTakeHook } from "../../src/service/hooks.ts";
import { scriptedProvider } from "../helpers/engine.ts";
import { attemptId, LANE, taskId } from "../helpers/store.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const CALL: HookCall = { header: () => undefined, body: new Uint8Array() };
const seal = () => createSeal({ key: "a passphrase of some length", file: "/nowhere/secret.key" });
const tokenOf = (path: string) => path.slice("/hooks/".length);

test("a token is for its attempt alone, whoever has the key", () => {
  const tokens = createHookTokens({ seal: seal() });
  const token = tokenOf(tokens.pathOf(attemptId(1)));
  expect(createHookTokens({ seal: seal() }).attemptOf(token)).toBe(attemptId(1));
  const other = createSeal({ key: "another passphrase, as long", file: "/nowhere/secret.key" });
  expect(createHookTokens({ seal: other }).attemptOf(token)).toBeUndefined();
  const [, signature = ""] = token.split("-");
  const otherId = attemptId(2).slice("att_".length);
  for (const forged of [
    `${otherId}-${token.slice(27)}`,
    `${token.slice(0, -1)}${signature.endsWith("A") ? "B" : "A"}`,
    token.slice(0, -1),
    `${token}A`,
    token.toUpperCase(),
    token.replace("-", ""),
    "",
    "x".repeat(10_000),
  ])
    expect(tokens.attemptOf(forged)).toBeUndefined();
});

test("an address keeps what signs it after the key was changed", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-hooks-"));
  const file = join(folder, "secret.key");
  const token = tokenOf(createHookTokens({ seal: createSeal({ file }) }).pathOf(attemptId(1)));
  const later = createSeal({ key: "a passphrase of some length", file });
  expect(createHookTokens({ seal: later }).attemptOf(token)).toBe(attemptId(1));
  rmSync(folder, { recursive: true });
});

function setup(adapter: Partial<ProviderAdapter> = {}, change: Partial<Attempt> = {}) {
  const came: AttemptId[] = [];
  let reads = 0;
  const attempt = { id: attemptId(1), taskId: taskId(1), lane: LANE, ...change } as Attempt;
  const hookTokens = createHookTokens({ seal: seal() });
  const takeHook = createTakeHook({
    hookTokens,
    tasks: {
      async attempt(id) {
        reads += 1;
        return id === attempt.id ? attempt : undefined;
      },
    },
    provider: () => scriptedProvider(adapter),
    hookCame: async ({ id }) => void came.push(id),
    log: silent,
  });
  return { ...takeHook, came, hookTokens, reads: () => reads };
}

test("a token that is none is refused before anything is read", () => {
  const { attemptOf, reads, came } = setup();
  expect(() => attemptOf("x")).toThrow(expect.objectContaining({ code: "not_found" }));
  expect([reads(), came.length]).toEqual([0, 0]);
});

test("a call leads to a question, whether its provider signs or not, and whether the proof is to be had", async () => {
  for (const verdict of [undefined, "genuine", "unknown"] as const) {
    const { take, came } = setup(verdict && { verifyHook: async () => verdict });
    await take(attemptId(1), CALL);
    expect(came).toEqual([attemptId(1)]);
  }
});

test("a wrong signature is refused like a wrong token, and asks nothing", async () => {
  const { take, came } = setup({ verifyHook: async () => "forged" });
  await expect(take(attemptId(1), CALL)).rejects.toMatchObject({ code: "not_found" });
  await expect(take(attemptId(2), CALL)).rejects.toMatchObject({ code: "not_found" });
  expect(came).toEqual([]);
});

test("a signature is proved at the account as it was when the attempt began", async () => {
  const seen: unknown[] = [];
  const earlier = scriptedProvider({ verifyHook: async () => "forged" });
  const { take } = setup(
    {
      withTerms(terms) {
        seen.push(terms);
        return earlier;
      },
    },
    { terms: { base: "https://old.example.com" } },
  );
  await expect(take(attemptId(1), CALL)).rejects.toMatchObject({ code: "not_found" });
  expect(seen).toEqual([{ base: "https://old.example.com" }]);
});

test("a question that cannot be stored does not concern the caller", async () => {
  const hookTokens = createHookTokens({ seal: seal() });
  const told: string[] = [];
  const { take } = createTakeHook({
    hookTokens,
    tasks: { attempt: async () => ({ id: attemptId(1), taskId: taskId(1), lane: LANE }) as Attempt },
    provider: () => undefined,
    hookCame: async () => {
      throw new Error("disk full");
    },
    log: { ...silent, warn: (_, message) => void told.push(message) },
  });
  await take(attemptId(1), CALL);
  await Promise.resolve();
  expect(told).toEqual(["a call could not be noted"]);
});
