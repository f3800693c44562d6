import { describeProvider, type RehearsedKind } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { describeHttpAdapter } from "../kit/http-contract.ts";
import {
  COMPLETED,
  createProvider,
  IN_PROGRESS,
  IN_QUEUE,
  imagesAt,
  modelError,
  queued,
  startQueue,
  submission,
} from "./harness.ts";

describeHttpAdapter("fal", {
  create: createProvider,
  request: () => submission(),
  accepted: (origin) => queued(origin),
  error: (word, message) => modelError(word, message, ["body"]),
  patienceMs: 3_600_000,
});

describeProvider("fal", async () => {
  const queue = await startQueue(({ prompt }) => {
    const result = imagesAt(() => queue.origin, 2);
    switch (prompt as RehearsedKind) {
      case "done":
        return { statuses: [IN_QUEUE, IN_PROGRESS, COMPLETED], result };
      case "failing":
        return {
          statuses: [IN_PROGRESS, COMPLETED],
          result: { status: 422, json: modelError("content_policy_violation", "Flagged.") },
        };
      case "busy":
        return { status: 429, headers: { "retry-after": "1" }, json: { detail: "Too many requests" } };
      case "endless":
        return { statuses: [IN_PROGRESS], result };
    }
  });
  const clock = fakeClock();
  const start = () => createProvider({ baseUrl: queue.origin, clock });
  return {
    provider: start(),
    request: (kind) => submission({ prompt: kind, n: 2 }),
    advance: async (ms) => clock.advance(ms),
    restart: async () => start(),
    arrived: () => queue.arrived.filter(({ method }) => method === "POST").length,
    stop: async () => queue.stop(),
  };
});
