import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { BFL_PENDING, type Bfl, startBfl } from "./support/bfl.ts";
import { type Collector, startCollector } from "./support/collector.ts";

setDefaultTimeout(120_000);

const CANARY = "prompt-canary-51d0";
const HEADER_KEY = "collector-canary-9c21";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const TRACEPARENT = { traceparent: `00-${TRACE}-${CALLER}-01` };
const BODY = { model: "flux-2-pro", prompt: CANARY, callback_url: "http://127.0.0.1:2/callback" };

let collector: Collector;
let bfl: Bfl;
let isDone = false;
beforeAll(async () => {
  collector = startCollector();
  bfl = await startBfl({ poll: () => (isDone ? undefined : BFL_PENDING) });
});
afterAll(async () => {
  await stopServers();
  collector.stop();
  bfl.stop();
});

test("a task is one trace of its caller's, from the request to the callback, though the server is killed in its middle", async () => {
  const options = {
    env: {
      BFL_API_KEY: "bfl-key",
      SVC_PROVIDERS_BFL_BASE_URL: bfl.upstream.origin,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${HEADER_KEY}`,
    },
    args: ["--egress-allow", "127.0.0.1"],
  };
  const first = await startServer(options);
  const key = first.firstKey();
  const id = await createApi(first.url, key).accept(BODY, TRACEPARENT);
  await bfl.submitted(1);
  const submitted = await collector.find("submit");
  const request = await collector.find("POST /v1/images/generations");
  first.signal("SIGKILL");
  await first.exited;

  isDone = true;
  const second = await startServer({ ...options, dataDir: first.dataDir });
  expect((await createApi(second.url, key).wait(id)).status).toBe("completed");
  const [task, callback] = [await collector.find("task"), await collector.find("callback")];
  const [generate, finalize] = [await collector.find("generate"), await collector.find("finalize")];
  const queue = await collector.find("queue");

  const all = [request, task, queue, submitted, generate, finalize, callback];
  expect(all.map(({ traceId }) => traceId)).toEqual(all.map(() => TRACE));
  expect([request.parentSpanId, task.parentSpanId]).toEqual([CALLER, request.spanId]);
  const parts = [queue, submitted, generate, finalize, callback];
  expect(parts.map(({ parentSpanId }) => parentSpanId)).toEqual(parts.map(() => task.spanId));
  expect(generate.events.length).toBeGreaterThan(0);
  expect(request.values).toMatchObject({
    "http.route": "/v1/images/generations",
    "http.response.status_code": 200,
    "svc.task_id": id,
  });
  expect(task.values).toMatchObject({
    "svc.task_id": id,
    "svc.model": "flux-2-pro",
    "svc.status": "completed",
  });
  expect(callback.values).toMatchObject({ "svc.outcome": "unreachable" });
  for (const span of parts) {
    expect(span.startMs).toBeGreaterThanOrEqual(task.startMs - 1);
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  }

  const [sent] = bfl.upstream.arrived.filter(({ method }) => method === "POST");
  expect(sent?.headers.get("traceparent")).toBe(`00-${TRACE}-${submitted.spanId}-01`);
  expect(collector.keys()).toEqual(new Set([HEADER_KEY]));
  const told = collector.text() + second.stderr();
  for (const secret of [CANARY, key, "bfl-key"]) expect(told).not.toContain(secret);
  expect(second.stderr()).not.toContain(HEADER_KEY);
});

test("a caller that says its trace is not recorded gets none; one without a trace gets its own; prompts are told where that is on", async () => {
  const server = await startServer({
    args: ["--tracing-endpoint", collector.url],
    env: { SVC_TRACING_PROMPTS: "true" },
  });
  const api = createApi(server.url, server.firstKey());
  const tiny = { model: "sandbox-image", prompt: "told", size: "1x1", sandbox: { delay_ms: 0 } };
  const untold = await api.accept(tiny, { traceparent: `00-${"1".repeat(32)}-${CALLER}-00` });
  const id = await api.accept(tiny);
  await api.wait(untold);
  await api.wait(id);
  const task = await collector.find("task", id);
  expect(task.values["svc.prompt"]).toBe("told");
  const request = await collector.find("POST /v1/images/generations", id);
  expect([request.parentSpanId, task.parentSpanId, task.traceId]).toEqual([
    undefined,
    request.spanId,
    request.traceId,
  ]);
  await server.stop();
  expect(collector.spans().filter(({ values }) => values["svc.task_id"] === untold)).toEqual([]);
});

test("a collector that hangs holds up neither a task nor the end of the server by more than two seconds", async () => {
  const hanging = startCollector({ hangs: true });
  const server = await startServer({ args: ["--tracing-endpoint", hanging.url] });
  const api = createApi(server.url, server.firstKey());
  const id = await api.accept({ model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } });
  expect((await api.wait(id)).status).toBe("completed");
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toContain("traces cannot be sent");
  hanging.stop();
});
