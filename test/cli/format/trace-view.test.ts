import { expect, test } from "bun:test";
import { traceFields } from "../../../cli/format/trace-view.ts";

test("polls are told with how many there were, and how many of them failed", () => {
  const phasesWith = (polls: object) => {
    const attempts = [{ number: 1, phases: { polls: { duration_ms: 1_000, ...polls } } }];
    return traceFields({
      task: { task_id: "task_1", status: "processing" },
      attempts,
      callbacks: [],
      assets: [],
      price: {},
    })
      .map(([name, value]) => (name.trim() === "phases" ? value : undefined))
      .find((value) => value !== undefined);
  };
  expect(phasesWith({})).toBe("polls 1 s");
  expect(phasesWith({ count: 4 })).toBe("polls 1 s (4)");
  expect(phasesWith({ count: 4, failed: 3 })).toBe("polls 1 s (4, 3 failed)");
  expect(phasesWith({ failed: 3 })).toBe("polls 1 s (3 failed)");
});

test("the price ends with what was given back of the charge", () => {
  const price = { amount: "0.040000", charged: "0.030000", refunded: "0.010000", currency: "USD", lines: [] };
  const fields = traceFields({
    task: { task_id: "task_1", status: "completed" },
    attempts: [],
    callbacks: [],
    assets: [],
    price,
  });
  expect(Object.fromEntries(fields).price).toBe(
    "0.040000 USD at most; 0.030000 charged; 0.010000 given back",
  );
});
