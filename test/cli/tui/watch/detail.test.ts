import { expect, test } from "bun:test";
import { storyOf } from "../../../../cli/client/story.ts";
import { detailLines } from "../../../../cli/tui/watch/detail.ts";
import { NO_PACE } from "../../../../cli/tui/watch/pace.ts";
import { listed, live, watched } from "./tasks.ts";

/** What is told of a task's money. */
function costOf(view: ReturnType<typeof listed>, charge: object[] = []): string | undefined {
  const [task] = watched(view);
  const hold = { amount: "0.040000", currency: "USD" };
  const story = storyOf(JSON.parse(JSON.stringify({ ...view, hold, charge })));
  const lines = task && detailLines(task, { id: task.id, story }, { pace: NO_PACE, nowMs: 5_000 }, 120);
  return lines?.find(({ text }) => text.startsWith("cost"))?.text.replace(/^cost\s+/, "");
}

test("what a task is held for is told while it runs and beside its charge, and not once it was given back", () => {
  const free = { usage: { cost: "0.000000", currency: "USD" } };
  expect(costOf(live(1))).toBe("0.040000 USD held");
  expect(costOf(listed(2), [{ sku: "image-1", quantity: 1, amount: "0.040000" }])).toBe(
    "0.040000 USD; 0.040000 USD held; image-1 × 1 = 0.040000",
  );
  expect(costOf(listed(3, { status: "failed", ...free }))).toBe("0.000000 USD");
});
