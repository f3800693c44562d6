import { expect, test } from "bun:test";
import type { Output } from "../../src/domain/ports/provider.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";
import { micros, newTask } from "../helpers/store.ts";

const good: Output = { kind: "bytes", bytes: new Uint8Array([1]) };
const damaged: Output = { kind: "bytes", bytes: Buffer.from("broken") };
const moderated: Output = { kind: "missing", code: "CONTENT_MODERATED" };

/** A task for four pictures at a micro-unit for each of at most 5,000 tokens, whose upstream reports 1,000 for each that it made. */
async function chargedFor(outputs: readonly Output[], outputTokens: number) {
  const usage = { inputTokens: 100, outputTokens };
  const engine = await createEngine([
    scriptedProvider({ submit: async () => ({ kind: "outputs", outputs, usage }) }),
  ]);
  const { request, quote } = newTask();
  const priced = { per: 1, unitMicros: micros(1) } as const;
  const lines = [
    { sku: "in", unit: "input_token", perOutput: 500, ...priced },
    { sku: "out", unit: "output_token", perOutput: 5_000, ...priced },
  ] as const;
  const held = micros(20_500);
  const id = await engine.admit({
    request: { ...request, n: 4 },
    quote: { ...quote, outputs: 4, lines, ceiling: held },
    held,
  });
  await engine.runToEnd();
  return (await engine.task(id)).charged;
}

test("tokens of pictures that were made and lost are not charged", async () => {
  expect(await chargedFor([good, good, good, good], 4_000)).toBe(micros(4_100));
  expect(await chargedFor([good, damaged, damaged, damaged], 4_000)).toBe(micros(1_100));
  expect(await chargedFor([good, good, damaged, damaged], 4_001)).toBe(micros(2_101));
});

test("tokens of pictures that were never made are in no report, so that all that are reported are charged", async () => {
  expect(await chargedFor([good, moderated, moderated, moderated], 1_000)).toBe(micros(1_100));
});

test("where nothing was delivered, nothing is charged", async () => {
  expect(await chargedFor([damaged, damaged, damaged, moderated], 3_000)).toBe(micros(0));
});
