import { expect, test } from "bun:test";
import type { TaskId } from "../../src/domain/ids.ts";
import { adoptLeft } from "../../src/service/adopt-left.ts";
import { createOrphans } from "../../src/service/orphans.ts";

test("a call of a process that is found to be gone only now is left", async () => {
  const orphans = createOrphans();
  const task = { id: "task_1" as TaskId, status: "processing" } as never;
  const lookAgain = async () => orphans.add("scope", "task_1" as TaskId, 0);
  const deps = {
    orphans: { ...orphans, lookAgain },
    clock: { elapsed: () => 0 },
    tasks: { summary: async () => task },
  };
  expect(await adoptLeft(deps, "scope")).toBe(task);
});
