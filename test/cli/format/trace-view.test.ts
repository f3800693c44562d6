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
