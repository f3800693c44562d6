import { expect, test } from "bun:test";
import { createEngine, scriptedProvider } from "../helpers/engine.ts";

test.each([
  [4, "completed"],
  [5, "failed"],
])("a job that is said to be done %i times without what it made has %s", async (times, status) => {
  let asked = 0;
  const provider = scriptedProvider({
    poll: async () => ({
      kind: "succeeded",
      outputs: ++asked <= times ? [] : [{ kind: "remote", ref: "file" }],
    }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status });
  expect([asked, provider.submissions.length]).toEqual([5, 1]);
});
