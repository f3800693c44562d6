import { describeProvider, type RehearsedKind } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { taskId as fixedTaskId } from "../../helpers/store.ts";
import { describeHttpAdapter } from "../kit/http-contract.ts";
import { accepted, createProvider, done, refused, startInstance, submission, task } from "./harness.ts";

describeHttpAdapter("svc", {
  create: createProvider,
  request: () => submission(),
  accepted: () => accepted(),
  state: (status) => ({ code: 200, message: "success", data: { task_id: fixedTaskId(1), status } }),
  error: (word, message) => ({ code: 400, message, data: { type: "some_error", error_code: word } }),
  patienceMs: 3_600_000,
});

describeProvider("svc", async () => {
  const instance = await startInstance(({ prompt }) => {
    switch (prompt as RehearsedKind) {
      case "done":
        return {
          states: [task("pending", { queue_position: 1 }), task("processing", { progress: 40 }), done(2)],
        };
      case "failing":
        return { states: [task("failed", { error_code: "CONTENT_MODERATED", error_message: "No." })] };
      case "busy":
        return refused(429, "rate_limit_exceeded");
      case "endless":
        return { states: [task("processing")] };
    }
  });
  const clock = fakeClock();
  const start = () => createProvider({ baseUrl: instance.origin, clock });
  return {
    provider: start(),
    request: (kind) => submission({ prompt: kind, n: 2 }),
    advance: async (ms) => clock.advance(ms),
    restart: async () => start(),
    stop: async () => instance.stop(),
  };
});
