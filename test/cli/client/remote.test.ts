import { expect, test } from "bun:test";
import { clientOptions } from "../../../cli/client/remote.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";
import { createOutput } from "../../../cli/format/output.ts";
import { fakeContext } from "../support.ts";

/** What is written about a retry. */
async function told(delayMs: number, { isTerminal = false, quiet = false } = {}): Promise<string> {
  const context = fakeContext({ isTerminal });
  const output = await createOutput(context, { quiet, color: false });
  const failure = new Failure(EXIT.overloaded, "rate_limit_exceeded", `Slow. ${"x".repeat(100)}`);
  clientOptions({}, context, output).onRetry?.({ failure, retry: "yes" }, delayMs);
  return context.stderr.text();
}

test("a retry says first when it comes, because a terminal cuts the end of a long line", async () => {
  const line = await told(34_000, { isTerminal: true });
  expect(line).toContain("Again in 34 s: Slow. xxx");
  expect(line).not.toContain("x".repeat(100));
});

test("a long wait is told where there is no terminal, and a short one is not", async () => {
  expect(await told(34_000)).toBe(`Again in 34 s: Slow. ${"x".repeat(100)}\n`);
  expect(await told(4_000)).toBe("");
  expect(await told(34_000, { quiet: true })).toBe("");
});
