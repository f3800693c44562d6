import { expect, test } from "bun:test";
import { systemTiming } from "../../../cli/client/retry.ts";

test("a wait of a month does not end at once, but with its signal", async () => {
  const controller = new AbortController();
  const slept = systemTiming.sleep(30 * 86_400_000, controller.signal).then(
    () => "over",
    (error: Error) => error.message,
  );
  await systemTiming.sleep(5, new AbortController().signal);
  controller.abort();
  expect(await slept).toBe("Interrupted.");
});
