import { expect, test } from "bun:test";
import { type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";

const said = 'answered 500 "cannot draw a lighthouse at dusk"';
const quoting = new ProviderError("fail", "UPSTREAM_REJECTED", said, {
  publicMessage: "a lighthouse at dusk is too dark",
});

const submits: readonly [string, Partial<ProviderAdapter>][] = [
  [
    "a refusal of a submission",
    {
      async submit() {
        throw quoting;
      },
    },
  ],
  [
    "a job that failed",
    {
      submit: async () => ({ kind: "operation", operation: "job" }),
      poll: async () => ({
        ...{ kind: "failed", code: "UPSTREAM_REJECTED", message: "a lighthouse at dusk is too dark" },
        detail: said,
      }),
    },
  ],
  [
    "a question that is refused",
    {
      submit: async () => ({ kind: "operation", operation: "job" }),
      async poll() {
        throw quoting;
      },
    },
  ],
];

test.each(submits)("%s tells its task's owner what was quoted, and nobody else", async (_, adapter) => {
  const engine = await createEngine([scriptedProvider(adapter)]);
  const lines: string[] = [];
  const write = (...line: unknown[]) => void lines.push(JSON.stringify(line));
  Object.assign(engine.deps, { log: { debug: write, info: write, warn: write, error: write } });
  const id = await engine.admit({});
  await engine.runToEnd(500);
  const task = await engine.task(id);
  expect(task.error?.message).toBe("a lighthouse at dusk is too dark");
  expect(lines.filter((line) => line.includes("lighthouse"))).toEqual([]);
  expect(lines.join()).toContain("cannot draw [quoted from the request]");
  const [attempt] = await engine.deps.tasks.attempts(id);
  expect(attempt?.detail).toBe('answered 500 "cannot draw [quoted from the request]"');
});
