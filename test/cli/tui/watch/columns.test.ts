import { expect, test } from "bun:test";
import { columnsFor, rowParts } from "../../../../cli/tui/watch/columns.ts";
import { NO_PACE } from "../../../../cli/tui/watch/pace.ts";
import { listed, live, watched } from "./tasks.ts";

test.each([
  [listed(1, { created_at: 1_000, completed_at: 1_000 }), "< 1 s"],
  [listed(1, { created_at: 1_000, completed_at: 1_042 }), "42 s"],
  [live(1, { created_at: 1_000 }), "10 s"],
])("the time of a task is told in the whole seconds that the server tells: %#", (view, time) => {
  const [task] = watched(view);
  const cells = task && rowParts(columnsFor(80, false), task, { pace: NO_PACE, nowMs: 1_010_000 });
  expect(cells?.[2].trimEnd().endsWith(` ${time}`)).toBe(true);
});
