import { describeProvider, type RehearsedKind } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { recordPreviews } from "../../helpers/previews.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";
import { describeHttpAdapter } from "../kit/http-contract.ts";
import {
  createProvider,
  pictures,
  refusal,
  startVideoServer,
  submission,
  videoSubmission,
} from "./harness.ts";

const ANSWERS: Readonly<Record<RehearsedKind, () => Scripted>> = {
  done: () => pictures(2),
  failing: () => refusal(400, { code: "moderation_blocked", type: "image_generation_user_error" }),
  busy: () => refusal(429, { code: "rate_limit_exceeded", type: "requests" }),
  endless: () => () => undefined,
};

describeHttpAdapter("openai", {
  create: createProvider,
  request: () => submission(),
  error: (word, message) => ({ error: { message, type: "invalid_request_error", param: null, code: word } }),
  patienceMs: 3_600_000,
});

describeHttpAdapter("openai, asked for early versions", {
  create: createProvider,
  request: () => ({ ...submission(), previews: recordPreviews() }),
  error: (word, message) => ({ error: { message, type: "invalid_request_error", param: null, code: word } }),
  patienceMs: 3_600_000,
});

async function open(isIdempotent: boolean) {
  const known = new Map<string, Scripted>();
  let made = 0;
  const upstream = await startUpstream(({ headers, body }) => {
    const key = headers.get("idempotency-key") ?? "";
    const answer = known.get(key) ?? ANSWERS[JSON.parse(body.toString()).prompt as RehearsedKind]();
    if (isIdempotent) known.set(key, answer);
    made += 1;
    return answer;
  });
  const clock = fakeClock();
  // Only videos are jobs to ask after.
  const {
    poll: _poll,
    cancel: _cancel,
    ...provider
  } = createProvider({
    baseUrl: upstream.origin,
    clock,
    isIdempotent,
  });
  return {
    provider,
    request: (kind: RehearsedKind) => submission({ prompt: kind, n: 2 }),
    advance: async (ms: number) => clock.advance(ms),
    arrived: () => made,
    stop: async () => upstream.stop(),
  };
}

describeProvider("openai", () => open(false));
describeProvider("openai at a server that honours keys", () => open(true));

describeHttpAdapter("openai, asked for a video", {
  create: createProvider,
  request: () => videoSubmission(),
  accepted: () => ({ json: { id: "video_1", object: "video", status: "queued", progress: 0 } }),
  error: (word, message) => ({ error: { message, type: "invalid_request_error", param: null, code: word } }),
  patienceMs: 3_600_000,
});

describeProvider("openai, asked for videos", async () => {
  const server = await startVideoServer(({ prompt }) => {
    switch (prompt as RehearsedKind) {
      case "done":
        return {
          records: [{ status: "queued" }, { status: "in_progress", progress: 40 }, { status: "completed" }],
        };
      case "failing":
        return { records: [{ status: "failed", error: { code: "moderation_blocked", message: "No." } }] };
      case "busy":
        return refusal(429, { code: "rate_limit_exceeded", type: "requests" });
      case "endless":
        return { records: [{ status: "in_progress", progress: 3 }] };
    }
  });
  const clock = fakeClock();
  const start = () => createProvider({ baseUrl: server.origin, clock });
  return {
    provider: start(),
    request: (kind) => videoSubmission({ prompt: kind }),
    advance: async (ms) => clock.advance(ms),
    restart: async () => start(),
    arrived: () => server.arrived.filter(({ method }) => method === "POST").length,
    stop: async () => server.stop(),
  };
});
