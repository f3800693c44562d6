import { expect, test } from "bun:test";
import { threadCpuMs } from "../../src/runtime/thread-time.ts";

/** Computes for a few microseconds. */
function compute(): number {
  let sum = 0;
  for (let i = 0; i < 10_000; i++) sum = (sum * 31 + i) | 0;
  return sum;
}

test.skipIf(process.platform !== "linux")(
  "what a thread computes counts at once, however little it is",
  () => {
    const counted: boolean[] = [];
    for (let i = 0; i < 500; i++) {
      const before = threadCpuMs();
      compute();
      counted.push(threadCpuMs() > before);
    }
    expect(counted).not.toContain(false);
  },
);

test("what a thread waits does not count", () => {
  const before = threadCpuMs();
  const from = performance.now();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(performance.now() - from).toBeGreaterThan(190);
  expect(threadCpuMs() - before).toBeLessThan(100);
});
