import { expect, test } from "bun:test";
import type { ProviderId } from "../../src/domain/ids.ts";
import { MAX_INPUT_BYTES } from "../../src/domain/limits.ts";
import type { Route } from "../../src/domain/model/model.ts";
import type { ClaimQuery } from "../../src/domain/ports/claims.ts";
import { type PollResult, ProviderError, type RecoverRequest } from "../../src/domain/ports/provider.ts";
import { RESUME_DELAY_MS } from "../../src/domain/task/backoff.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, LANE, lane, micros, newTask, taskId } from "../helpers/store.ts";

const account = async (engine: Awaited<ReturnType<typeof createEngine>>) =>
  engine.store.accounts.account(ACCOUNT);

test("a task is submitted once, polled to its end, and completed with its stored output", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  const task = await engine.task(id);
  expect(task).toMatchObject({
    status: "completed",
    stage: "terminal",
    progress: 100,
    charged: micros(40_000),
  });
  expect(task.results).toHaveLength(1);
  expect(provider.submissions).toHaveLength(1);
  expect(await account(engine)).toMatchObject({ balance: micros(-40_000), held: micros(0) });
});

test("a provider is told how the route words its requests", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const wording = { count: "num_images" };
  const routes = MODEL.routes.map((route) => ({ ...route, wording }));
  const catalog = { ...engine.deps.catalog, find: () => ({ ...MODEL, routes }) };
  Object.assign(engine.deps, { catalog });
  await engine.admit();
  await engine.runToEnd();
  expect(provider.submissions.map((submission) => submission.wording)).toEqual([wording]);
});

test("an upstream that answers with bytes at once needs no poll", async () => {
  const provider = scriptedProvider({
    submit: async () => ({ kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] }),
    poll: async () => {
      throw new Error("polled");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  expect((await engine.task(id)).status).toBe("completed");
});

test("trouble while polling never ends a task, and a later answer completes it", async () => {
  let polls = 0;
  const provider = scriptedProvider({
    async poll(): Promise<PollResult> {
      polls += 1;
      if (polls <= 6)
        throw polls % 2 ? new ProviderError("retry", "UPSTREAM_ERROR", "503") : new Error("socket closed");
      return { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  expect(provider.submissions).toHaveLength(1);
});

test("a submission refused for want of capacity is tried again, as a new attempt", async () => {
  let refusals = 3;
  const provider = scriptedProvider({
    async submit() {
      if (refusals-- > 0) throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "busy");
      return { kind: "operation", operation: "job" };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  const attempts = await engine.store.tasks.attempts(id);
  expect(attempts.map(({ state }) => state)).toEqual(["rejected", "rejected", "rejected", "done"]);
  expect(new Set(provider.submissions.map(({ attempt }) => attempt)).size).toBe(4);
});

test("capacity that never comes fails the task as capacity, uncharged", async () => {
  const provider = scriptedProvider({
    submit: async () => {
      throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "busy");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({
    status: "failed",
    error: { code: "UPSTREAM_CAPACITY_EXHAUSTED" },
    charged: micros(0),
  });
  expect(provider.submissions).toHaveLength(5);
  expect(await account(engine)).toMatchObject({ balance: micros(0), held: micros(0) });
});

test("a route that will not take the task passes it to the next one", async () => {
  const first = scriptedProvider({
    submit: async () => {
      throw new ProviderError("reroute", "UPSTREAM_REJECTED", "model is gone");
    },
  });
  const second = scriptedProvider({ id: lane("second") });
  const engine = await createEngine([first, second]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({
    status: "completed",
    lane: "second" as ProviderId,
    routeIndex: 1,
  });
  expect(second.submissions[0]?.upstreamModel).toBe("two");
});

test("a route that cannot do a request exactly is passed over, at first and after a refusal", async () => {
  const refusing = () =>
    scriptedProvider({
      submit: async () => {
        throw new ProviderError("reroute", "UPSTREAM_REJECTED", "not today");
      },
    });
  const [first, second] = [refusing(), scriptedProvider({ id: lane("second") })];
  const engine = await createEngine([first, second]);
  const [one, two] = MODEL.routes as [Route, Route];
  const few = { n: { maximum: 1 } };
  const routes = [
    { ...one, upstreamModel: "few", only: few },
    { ...one, upstreamModel: "many" },
    { ...two, upstreamModel: "few", only: few },
    { ...two, upstreamModel: "many" },
  ];
  Object.assign(engine.deps, { catalog: { ...engine.deps.catalog, find: () => ({ ...MODEL, routes }) } });
  const id = await engine.admit({ request: { ...newTask().request, n: 2 } });
  await engine.runToEnd();
  expect(first.submissions.map(({ upstreamModel }) => upstreamModel)).toEqual(["many"]);
  expect(second.submissions.map(({ upstreamModel }) => upstreamModel)).toEqual(["many"]);
  expect(await engine.task(id)).toMatchObject({ status: "completed", routeIndex: 3 });
});

test("a task that waits goes by the routes that its model has when it is sent", async () => {
  const provider = scriptedProvider({ id: lane("second") });
  const engine = await createEngine([scriptedProvider(), provider]);
  const id = await engine.admit({ routeIndex: 1, lane: lane("second") });
  const routes = [{ provider: provider.id, upstreamModel: "new" }];
  Object.assign(engine.deps, { catalog: { ...engine.deps.catalog, find: () => ({ ...MODEL, routes }) } });
  await engine.runToEnd();
  expect(provider.submissions.map(({ upstreamModel }) => upstreamModel)).toEqual(["new"]);
  expect(await engine.task(id)).toMatchObject({ status: "completed", routeIndex: 0 });
});

test("a submission whose outcome is unknown is never sent again to an upstream that cannot tell", async () => {
  const provider = scriptedProvider({
    submit: async () => {
      throw new Error("connection reset");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "OUTCOME_UNKNOWN" } });
  expect(provider.submissions).toHaveLength(1);
  expect((await engine.store.tasks.attempts(id)).map(({ state }) => state)).toEqual(["ambiguous"]);
});

test("an unknown outcome is looked up where the upstream can be asked, and the operation found is polled", async () => {
  const asked: RecoverRequest[] = [];
  const provider = scriptedProvider({
    submit: async () => {
      throw new Error("connection reset");
    },
    async recover(request) {
      asked.push(request);
      return { kind: "found", operation: "job" };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  const [{ previews: _, tracing: __, hookUrl: ___, ...submitted } = {}, ...more] = provider.submissions;
  expect(more).toEqual([]);
  // What was asked for says all that was submitted.
  const [attempt] = await engine.store.tasks.attempts(id);
  expect(asked).toEqual([{ ...(submitted as RecoverRequest), startedAt: attempt?.startedAt }]);
});

test("a job of which an upstream has only just heard is found, and not submitted a second time", async () => {
  let asked = 0;
  const provider = scriptedProvider({
    submit: async () => {
      throw new Error("connection reset");
    },
    async recover() {
      asked += 1;
      return asked < 10 ? { kind: "unsettled" } : { kind: "found", operation: "job" };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd(300);
  expect((await engine.task(id)).status).toBe("completed");
  expect(asked).toBe(10);
  expect(provider.submissions).toHaveLength(1);
});

test("an attempt the upstream never received is followed by another", async () => {
  let lost = true;
  const provider = scriptedProvider({
    async submit() {
      if (!lost) return { kind: "operation", operation: "job" };
      lost = false;
      throw new Error("connection reset");
    },
    recover: async () => ({ kind: "absent" }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  expect(provider.submissions).toHaveLength(2);
});

test("an unknown outcome is sent again with the same attempt where its id is honoured as a key", async () => {
  let lost = true;
  const provider = scriptedProvider({
    submitIsIdempotent: true,
    async submit() {
      if (!lost) return { kind: "operation", operation: "job" };
      lost = false;
      throw new Error("connection reset");
    },
  });
  const engine = await createEngine([provider]);
  await engine.admit();
  await engine.runToEnd();
  expect(new Set(provider.submissions.map(({ attempt }) => attempt)).size).toBe(1);
  expect(provider.submissions).toHaveLength(2);
});

test("an upstream's failure fails the task with its stable code and releases the hold", async () => {
  const provider = scriptedProvider({ poll: async () => ({ kind: "failed", code: "CONTENT_MODERATED" }) });
  const engine = await createEngine([provider]);
  const id = await engine.admit({ callbackUrl: "https://example.com/hook" });
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "CONTENT_MODERATED" } });
  expect(await account(engine)).toMatchObject({ held: micros(0) });
  expect(engine.callbacksDue()).toBe(1);
});

test("a task that hangs upstream ends at its deadline, and the upstream is told to stop", async () => {
  const provider = scriptedProvider({ poll: async () => ({ kind: "pending", progress: 10 }) });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd(200);
  expect(await engine.task(id)).toMatchObject({
    status: "failed",
    error: { code: "DEADLINE_EXCEEDED" },
    progress: 10,
  });
  expect(provider.cancelled).toHaveLength(1);
});

test("a picture of another size than was asked for is no result", async () => {
  const bytes = new Uint8Array(1);
  const ends = async (size: string) => {
    const outputs = [{ kind: "bytes" as const, bytes, size }];
    const engine = await createEngine([
      scriptedProvider({ poll: async () => ({ kind: "succeeded", outputs }) }),
    ]);
    const id = await engine.admit();
    await engine.runToEnd();
    return engine.task(id);
  };
  expect(await ends("1x1")).toMatchObject({ status: "completed" });
  expect(await ends("64x1")).toMatchObject({
    ...{ status: "failed", error: { code: "FINALIZATION_FAILED" }, charged: micros(0) },
  });
});

test("outputs that cannot be fetched are asked for five times, then the task fails uncharged", async () => {
  let fetches = 0;
  const provider = scriptedProvider({
    fetchOutput: async () => {
      fetches += 1;
      throw new ProviderError("unknown", "UPSTREAM_ERROR", "404");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "FINALIZATION_FAILED" } });
  expect(fetches).toBe(5);
  expect(await account(engine)).toMatchObject({ balance: micros(0), held: micros(0) });
});

test("an output that was retrieved is not fetched again while another one is missing", async () => {
  const fetched: string[] = [];
  const provider = scriptedProvider({
    poll: async () => ({
      kind: "succeeded",
      outputs: ["late", "soon"].map((ref) => ({ kind: "remote" as const, ref })),
    }),
    fetchOutput: async (ref) => {
      fetched.push(String(ref));
      const isLate = ref === "late" && fetched.length < 4;
      if (isLate) throw new ProviderError("retry", "UPSTREAM_ERROR", "404");
      return (async function* () {
        yield Buffer.from(String(ref));
      })();
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit({ request: { ...newTask().request, n: 2 } });
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed", resultIssues: undefined });
  expect(fetched).toEqual(["late", "soon", "late", "late"]);
});

test("of an upstream that made more than it was asked for, as many are kept as were asked for", async () => {
  const bytes = (byte: number) => ({ kind: "bytes" as const, bytes: new Uint8Array([byte]) });
  const provider = scriptedProvider({
    submit: async () => ({ kind: "outputs", outputs: [bytes(1), bytes(2), bytes(3)] }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  const task = await engine.task(id);
  expect([task.status, task.request.n, task.results.length]).toEqual(["completed", 1, 1]);
});

test("an operation without outputs is a failure, never a completed task", async () => {
  const provider = scriptedProvider({ poll: async () => ({ kind: "succeeded", outputs: [] }) });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "UPSTREAM_ERROR" } });
});

test("cancelling a running task tells the upstream, and the task ends as cancelled, uncharged", async () => {
  const cancelled: unknown[] = [];
  const provider = scriptedProvider({
    poll: async () => (cancelled.length > 0 ? { kind: "cancelled" } : { kind: "pending" }),
    cancel: async (operation) => {
      cancelled.push(operation);
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit({ callbackUrl: "https://example.com/hook" });
  await engine.scheduler.tick();
  expect(await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now())).toBe("requested");
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
  expect(cancelled).toEqual([{ job: 1 }]);
  expect(await account(engine)).toMatchObject({ balance: micros(0), held: micros(0) });
  expect(engine.callbacksDue()).toBe(0);
});

test.each([
  [2, "completed"],
  [3, "failed"],
])("a job that its upstream does not know %i times in a row has %s", async (times, status) => {
  let asked = 0;
  const provider = scriptedProvider({
    poll: async () =>
      ++asked <= times
        ? { kind: "failed", code: "UPSTREAM_ERROR", isLost: true }
        : { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status });
  expect(provider.submissions).toHaveLength(1);
});

test("a task that is cancelled, and whose upstream then knows nothing of it, ends as cancelled", async () => {
  const provider = scriptedProvider({
    poll: async () =>
      provider.cancelled.length > 0
        ? { kind: "failed", code: "UPSTREAM_ERROR", isLost: true }
        : { kind: "pending" },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
  expect(provider.submissions).toHaveLength(1);
});

test("a cancel that comes too late changes nothing: the result is delivered and charged", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed", charged: micros(40_000) });
});

test("a remote input that cannot be reached is tried three times and fails the task, naming its field", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const id = await engine.admit({
    request: {
      kind: "image",
      model: "sandbox-image" as never,
      mode: "image-to-image",
      n: 1,
      parameters: {},
      inputs: [
        { role: "image", param: "image_urls[0]", source: { kind: "url", url: "https://example.com/a.png" } },
      ],
    },
  });
  await engine.runToEnd();
  const task = await engine.task(id);
  expect(task.error).toEqual({ code: "INPUT_UNREACHABLE", message: "image_urls[0] cannot be reached" });
  expect(provider.submissions).toHaveLength(0);
});

test("a remote input is fetched once, stored, and handed to the provider as a file", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider], {
    egress: {
      fetchMedia: async () =>
        (async function* () {
          yield new TextEncoder().encode("input");
        })(),
    },
  });
  const id = await engine.admit({
    request: {
      kind: "image",
      model: "sandbox-image" as never,
      mode: "image-to-image",
      n: 1,
      parameters: {},
      inputs: [
        { role: "image", param: "image_url", source: { kind: "url", url: "https://example.com/a.png" } },
      ],
    },
  });
  await engine.runToEnd();
  const task = await engine.task(id);
  expect(task.status).toBe("completed");
  expect(task.request.inputs[0]?.source.kind).toBe("asset");
  const input = provider.submissions[0]?.inputs[0];
  expect(new TextDecoder().decode(await input?.content.bytes())).toBe("input");
});

test("a remote recording is asked for as one, within the limit of recordings", async () => {
  const provider = scriptedProvider();
  const asked: unknown[] = [];
  const engine = await createEngine([provider], {
    egress: {
      async fetchMedia(_url, { maxBytes }) {
        asked.push(maxBytes);
        return (async function* () {
          yield new TextEncoder().encode("input");
        })();
      },
    },
  });
  const { stage } = engine.deps.assets;
  engine.deps.assets.stage = (source, options) => {
    asked.push(options.accept);
    return stage(source, options);
  };
  const source = { kind: "url", url: "https://example.com/a.mp3" } as const;
  const inputs = [{ role: "audio", param: "audio_url", source }] as const;
  await engine.admit({ request: { ...newTask().request, inputs } });
  await engine.runToEnd();
  expect(asked.slice(0, 2)).toEqual([MAX_INPUT_BYTES.audio, ["audio"]]);
  expect(provider.submissions[0]?.inputs.map(({ role }) => role)).toEqual(["audio"]);
});

test("a model without any provider switched on fails its queued tasks clearly", async () => {
  const engine = await createEngine([], {
    options: { lanes: () => [{ lane: lane("sandbox"), capacity: 1 }] },
  });
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "failed", error: { code: "NO_ROUTE_AVAILABLE" } });
});

test("a lane takes no more tasks than its capacity, and the next one when one ends", async () => {
  let done = false;
  const provider = scriptedProvider({
    concurrency: 2,
    poll: async () =>
      done
        ? { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] }
        : { kind: "pending", pollAfterMs: 1_000 },
  });
  const engine = await createEngine([provider]);
  for (let number = 1; number <= 5; number++) await engine.admit({ number });
  await engine.scheduler.tick();
  await engine.scheduler.tick();
  expect(provider.submissions).toHaveLength(2);
  done = true;
  await engine.runToEnd();
  expect(provider.submissions).toHaveLength(5);
  expect((await engine.task(taskId(5))).status).toBe("completed");
});

test("the scheduler dispatches on a wake-up and polls by its own timer, without a tick", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  await engine.scheduler.start();
  const id = await engine.admit();
  const ended = Promise.withResolvers<void>();
  engine.deps.feed.subscribe(id, async () => {
    const { stage } = await engine.task(id);
    if (stage === "running") engine.clock.advance(5_000);
    if (stage === "terminal") ended.resolve();
  });
  engine.scheduler.wake();
  await ended.promise;
  expect((await engine.task(id)).status).toBe("completed");
  await engine.scheduler.drain(0);
});

test("draining interrupts a step that will not end and gives its task back, due after a pause", async () => {
  const polled = Promise.withResolvers<void>();
  const provider = scriptedProvider({
    poll: (_operation, signal) => {
      polled.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const engine = await createEngine([provider]);
  await engine.scheduler.start();
  const id = await engine.admit();
  engine.deps.feed.subscribe(id, () => engine.clock.advance(1_000));
  engine.scheduler.wake();
  await polled.promise;
  const drained = engine.scheduler.drain(5_000);
  engine.clock.advance(5_000);
  await drained;
  const now = engine.clock.now();
  const query = { leaseMs: 1, limit: 1, lanes: [], capacity: 0 };
  const early = await engine.store.tasks.claim({ ...query, now });
  expect(early).toMatchObject({ leases: [], nextDueAt: now + RESUME_DELAY_MS });
  const { leases } = await engine.store.tasks.claim({ ...query, now: now + RESUME_DELAY_MS });
  expect(leases.map(({ task }) => [task.id, task.stage])).toEqual([[id, "running"]]);
});

const withRemoteInput = (number: number) => ({
  number,
  request: {
    kind: "image" as const,
    model: "sandbox-image" as never,
    mode: "image-to-image",
    n: 1,
    parameters: {},
    inputs: [
      {
        role: "image" as const,
        param: "image_url",
        source: { kind: "url" as const, url: "https://slow.example/a.png" },
      },
    ],
  },
});

/** Fetches that end only when they are aborted. */
function stalledFetches() {
  const begun = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    fetchMedia: (_url: string, { signal }: { signal: AbortSignal }) => {
      begun.resolve();
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    },
  };
}

test("a cancel interrupts the fetch of an input, and nothing is submitted or charged", async () => {
  const provider = scriptedProvider();
  const stalled = stalledFetches();
  const engine = await createEngine([provider], { egress: { fetchMedia: stalled.fetchMedia } });
  const id = await engine.admit(withRemoteInput(1));
  const ticked = engine.scheduler.tick();
  await stalled.begun;
  expect(await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now())).toBe("requested");
  engine.deps.feed.publish({ id, accountId: ACCOUNT }, false);
  await ticked;
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
  expect(provider.submissions).toHaveLength(0);
});

test("news of a task that nobody cancels do not end the fetch of its input", async () => {
  const begun = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<Uint8Array>();
  const fetchMedia = async (_url: string, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener("abort", () => sent.reject(signal.reason));
    begun.resolve();
    return (async function* () {
      yield await sent.promise;
    })();
  };
  const engine = await createEngine([scriptedProvider()], { egress: { fetchMedia } });
  const id = await engine.admit(withRemoteInput(1));
  const ticked = engine.scheduler.tick();
  await begun.promise;
  // Another node tells that it has stored the task. This one had claimed it before it heard of that.
  engine.deps.feed.publish({ id, accountId: ACCOUNT }, false);
  await engine.task(id);
  sent.resolve(new TextEncoder().encode("input"));
  await ticked;
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed" });
});

test("a cancel asked for after the claim is heard before anything is submitted", async () => {
  const provider = scriptedProvider();
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  const { begin, claim } = engine.store.tasks;
  Object.assign(engine.deps.tasks, {
    // A claim that begins the task leaves no time for a cancel.
    claim: (query: ClaimQuery) => claim({ ...query, intentFor: undefined }),
    begin: async (...given: Parameters<typeof begin>) => {
      await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
      return begin(...given);
    },
  });
  await engine.scheduler.tick();
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
  expect(provider.submissions).toHaveLength(0);
});

test("a cancel asked for after the claim is heard before an attempt is sent again", async () => {
  const provider = scriptedProvider({
    submitIsIdempotent: true,
    async submit() {
      throw new Error("connection reset");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  const apply = engine.store.tasks.apply;
  Object.assign(engine.deps.tasks, {
    apply: async (...given: Parameters<typeof apply>) => {
      if (given[1].name === "resent") await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
      return apply(...given);
    },
  });
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
  expect(provider.submissions).toHaveLength(1);
});

test("inputs that come slowly hold up neither other tasks nor, beyond eight, others of their account", async () => {
  const provider = scriptedProvider();
  const stalled = stalledFetches();
  const engine = await createEngine([provider], {
    egress: { fetchMedia: stalled.fetchMedia },
    options: { steps: 2 },
  });
  for (let number = 1; number <= 12; number++) await engine.admit(withRemoteInput(number));
  const plain = await engine.admit({ number: 13 });
  await engine.scheduler.start();
  const ended = Promise.withResolvers<void>();
  engine.deps.feed.subscribe(plain, async () => {
    const { stage } = await engine.task(plain);
    if (stage === "running") engine.clock.advance(500);
    if (stage === "terminal") ended.resolve();
  });
  await ended.promise;
  expect((await engine.task(plain)).status).toBe("completed");
  await engine.scheduler.drain(0);
});

test("a clock that jumps ahead does not take a task from the step that works on it", async () => {
  const submitting = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const provider = scriptedProvider({
    async submit() {
      submitting.resolve();
      await answer.promise;
      return { kind: "operation", operation: "job" };
    },
  });
  const engine = await createEngine([provider]);
  await engine.scheduler.start();
  const id = await engine.admit();
  engine.scheduler.wake();
  await submitting.promise;
  const later = engine.clock.now() + 3_600_000;
  const { leases } = await engine.store.tasks.claim({
    now: later,
    leaseMs: 30_000,
    limit: 5,
    lanes: [],
    capacity: 0,
    held: new Set([id]),
  });
  expect(leases).toEqual([]);
  answer.resolve();
  await engine.scheduler.drain(0);
  expect(await engine.task(id)).toMatchObject({ stage: "running", attempts: 1 });
});

test("outputs wait for a provider that is switched off, and no try is used up", async () => {
  const providers = [scriptedProvider()];
  const engine = await createEngine(providers);
  const id = await engine.admit();
  await engine.scheduler.tick();
  providers.length = 0;
  engine.clock.advance(1_000);
  await engine.scheduler.tick();
  expect(await engine.task(id)).toMatchObject({ stage: "running", failures: 0 });
  providers.push(scriptedProvider());
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
});

test("a task whose files only a provider that is gone could give ends when it is cancelled", async () => {
  const providers = [
    scriptedProvider({
      fetchOutput: () =>
        Promise.reject(new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "not there yet")),
    }),
  ];
  const engine = await createEngine(providers);
  const id = await engine.admit();
  for (let i = 0; (await engine.task(id)).stage !== "finalizing"; i++) {
    if (i === 10) throw new Error("its upstream is never done");
    await engine.scheduler.tick();
    engine.clock.advance(1_000);
  }
  providers.length = 0;
  engine.clock.advance(60_000);
  await engine.scheduler.tick();
  expect(await engine.task(id)).toMatchObject({ stage: "finalizing", status: "processing" });
  await engine.store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  engine.clock.advance(60_000);
  await engine.scheduler.tick();
  expect(await engine.task(id)).toMatchObject({ status: "cancelled", charged: micros(0) });
});

test("a refusal of an attempt sent again says nothing of the first time: the same attempt is asked for until it is answered", async () => {
  const answers = [
    new ProviderError("unknown", "UPSTREAM_TIMEOUT", "no answer"),
    new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "busy"),
    new ProviderError("reroute", "UPSTREAM_REJECTED", "no balance"),
  ];
  const provider = scriptedProvider({
    submitIsIdempotent: true,
    async submit() {
      const error = answers.shift();
      if (error !== undefined) throw error;
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("completed");
  expect(new Set(provider.submissions.map(({ attempt }) => attempt)).size).toBe(1);
  expect(provider.submissions).toHaveLength(4);
});

test("an address that is refused is asked for anew, since signed ones end", async () => {
  const asked: unknown[] = [];
  let polls = 0;
  const provider = scriptedProvider({
    poll: async () => ({
      kind: "succeeded",
      outputs: ["kept", `signed ${++polls}`].map((ref) => ({ kind: "remote" as const, ref })),
    }),
    fetchOutput: async (ref) => {
      asked.push(ref);
      if (ref === "signed 1") throw new ProviderError("retry", "UPSTREAM_ERROR", "403", { isFailure: true });
      return new Blob([String(ref)]).stream();
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit({ request: { ...newTask().request, n: 2 } });
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed", resultIssues: undefined });
  expect(asked).toEqual(["kept", "signed 1", "signed 2"]);
});

test("an address that ended while its host was in trouble is asked for anew, however often it was tried", async () => {
  let [tries, polls] = [0, 0];
  const provider = scriptedProvider({
    poll: async () => ({ kind: "succeeded", outputs: [{ kind: "remote", ref: `signed ${++polls}` }] }),
    fetchOutput: async (ref) => {
      tries += 1;
      if (tries < 8) throw new ProviderError("retry", "UPSTREAM_ERROR", "503");
      if (ref === "signed 1") throw new ProviderError("retry", "UPSTREAM_ERROR", "403", { isFailure: true });
      return new Blob([String(ref)]).stream();
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed" });
  expect([tries, polls]).toEqual([9, 2]);
});

test("outputs whose host is in trouble are waited for until the task's deadline, and no longer", async () => {
  const DEADLINE_MS = 900_000;
  const endAfter = async (troubledMs: number) => {
    const provider = scriptedProvider({
      poll: async () => ({ kind: "succeeded", outputs: [{ kind: "remote", ref: 1 }] }),
      fetchOutput: async () => {
        if (engine.clock.now() - from < troubledMs) throw new ProviderError("retry", "UPSTREAM_ERROR", "503");
        return new Blob([new Uint8Array([1])]).stream();
      },
    });
    const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: DEADLINE_MS }] });
    const from = engine.clock.now();
    const id = await engine.admit();
    await engine.runToEnd(400);
    return { ...(await engine.task(id)), tookMs: engine.clock.now() - from };
  };
  expect(await endAfter(DEADLINE_MS - 60_000)).toMatchObject({ status: "completed" });
  const { tookMs, ...late } = await endAfter(Number.POSITIVE_INFINITY);
  expect(late).toMatchObject({
    status: "failed",
    error: { code: "FINALIZATION_FAILED" },
    charged: micros(0),
  });
  expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS);
  expect(tookMs).toBeLessThan(DEADLINE_MS + 60_000);
});

test("bytes that are no media file fail the task as not finalized, uncharged", async () => {
  const bytes = new TextEncoder().encode("broken");
  const provider = scriptedProvider({
    submit: async () => ({ kind: "outputs", outputs: [{ kind: "bytes", bytes }] }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({
    ...{ status: "failed", charged: micros(0), error: { code: "FINALIZATION_FAILED" } },
  });
});

test("what an engine of the house lost is made again, as a new attempt", async () => {
  const troubles = [
    new ProviderError("unknown", "UPSTREAM_ERROR", "connection reset"),
    ...Array.from({ length: 4 }, () => new ProviderError("retry", "UPSTREAM_ERROR", "ECONNREFUSED")),
  ];
  let isLost = true;
  const provider = scriptedProvider({
    repeatIsSafe: true,
    async submit() {
      const error = troubles.shift();
      if (error !== undefined) throw error;
      return { kind: "operation", operation: "job" };
    },
    async poll(): Promise<PollResult> {
      if (!isLost) return { kind: "succeeded", outputs: [{ kind: "remote", ref: "file" }] };
      isLost = false;
      return { kind: "failed", code: "UPSTREAM_ERROR", isLost: true };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd(400);
  expect((await engine.task(id)).status).toBe("completed");
  expect(new Set(provider.submissions.map(({ attempt }) => attempt)).size).toBe(7);
});

test("an engine of the house that never comes back fails the task at its deadline", async () => {
  const provider = scriptedProvider({
    repeatIsSafe: true,
    submit: async () => {
      throw new ProviderError("retry", "UPSTREAM_ERROR", "ECONNREFUSED");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd(400);
  expect((await engine.task(id)).error?.code).toBe("DEADLINE_EXCEEDED");
  expect(provider.submissions.length).toBeWithin(6, 12);
});

test("a task that waits to be submitted again leaves its place to others", async () => {
  const provider = scriptedProvider({
    concurrency: 1,
    submitIsIdempotent: true,
    async submit({ taskId: id }) {
      if (id === taskId(1)) throw new ProviderError("unknown", "UPSTREAM_ERROR", "connection reset");
      return { kind: "outputs", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const engine = await createEngine([provider]);
  const waiting = await engine.admit({ number: 1 });
  const other = await engine.admit({ number: 2 });
  await engine.scheduler.tick();
  await engine.scheduler.tick();
  expect((await engine.task(other)).status).toBe("completed");
  expect(await engine.task(waiting)).toMatchObject({ stage: "queued", status: "processing" });
});

test("an answer that cannot be used ends the task after five, at the operator's cost", async () => {
  const provider = scriptedProvider({
    poll: async () => {
      throw new ProviderError("unusable", "UPSTREAM_ERROR", "no JSON");
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ failures: 4, error: { code: "UPSTREAM_ERROR" } });
  expect(provider.submissions).toHaveLength(1);
});

test("a submission whose answer cannot be used is asked for where the upstream knows attempts", async () => {
  const provider = scriptedProvider({
    submit: async () => {
      throw new ProviderError("unusable", "UPSTREAM_ERROR", "cut JSON");
    },
    recover: async ({ attempt }) => ({ kind: "found", operation: { job: attempt } }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.runToEnd();
  expect(await engine.task(id)).toMatchObject({ status: "completed" });
  expect(provider.submissions).toHaveLength(1);
});

test("a route whose key is refused at a poll is told, until a poll is answered again", async () => {
  let refusals = 2;
  const provider = scriptedProvider({
    poll: async () => {
      if (refusals-- > 0) throw new ProviderError("retry", "UPSTREAM_ERROR", "401", { refused: "key" });
      return { kind: "succeeded", outputs: [{ kind: "bytes", bytes: new Uint8Array([1]) }] };
    },
  });
  const engine = await createEngine([provider]);
  await engine.admit();
  await engine.scheduler.tick();
  engine.clock.advance(1_000);
  await engine.scheduler.tick();
  expect(await engine.store.routes.troubles()).toMatchObject([
    { kind: "refused", detail: expect.stringContaining("401") },
  ]);
  await engine.runToEnd();
  expect(await engine.store.routes.troubles()).toEqual([]);
});

test("a route that refuses submissions is told until it takes one, whatever it answers to polls", async () => {
  let isSpent = false;
  const provider = scriptedProvider({
    submit: async () => {
      if (isSpent) throw new ProviderError("reroute", "NO_ROUTE_AVAILABLE", "402", { refused: "spent" });
      return { kind: "operation", operation: "job" };
    },
    poll: async () => ({ kind: "pending" }),
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  isSpent = true;
  await engine.admit({ id: taskId(2) });
  await engine.scheduler.tick();
  engine.clock.advance(5_000);
  await engine.scheduler.tick();
  expect(await engine.task(id)).toMatchObject({ stage: "running" });
  expect(await engine.store.routes.troubles()).toMatchObject([{ detail: expect.stringContaining("402") }]);
  isSpent = false;
  engine.clock.advance(3_600_000);
  await engine.admit({ id: taskId(3) });
  await engine.scheduler.tick();
  expect(await engine.store.routes.troubles()).toEqual([]);
});

test("a deadline that was moved while its task was polled brings no poll forward", async () => {
  let polls = 0;
  const provider = scriptedProvider({
    poll: async () => {
      polls += 1;
      return { kind: "pending", pollAfterMs: 5_000 };
    },
  });
  const engine = await createEngine([provider]);
  const id = await engine.admit();
  await engine.scheduler.tick();
  const { deadlineAt = 0 } = await engine.task(id);
  engine.clock.set(deadlineAt + 1_000);
  Object.assign(engine.deps, {
    isOverdue: async () => {
      await engine.store.time.beat(engine.clock.now(), engine.clock.now() - 60_000);
      return false;
    },
  });
  await engine.scheduler.tick();
  await engine.scheduler.tick();
  expect(polls).toBe(1);
});

test("the tally is told of each end once, with what it took from the create and what it cost", async () => {
  const engine = await createEngine([scriptedProvider()]);
  await engine.admit();
  await engine.runToEnd();
  const { createdAt, completedAt = 0 } = await engine.task(taskId(1));
  const end = { model: MODEL.id, provider: LANE, status: "completed", charged: micros(40_000) } as const;
  expect(engine.ended).toEqual([{ ...end, durationMs: completedAt - createdAt }]);
});
