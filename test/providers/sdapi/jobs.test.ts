import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import type { Json } from "../../../src/domain/json.ts";
import type { SdApiDeps } from "../../../src/providers/sdapi/adapter.ts";
import { operationOf, rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";
import { startWebUi, type WebUi } from "./engine.ts";
import { createProvider, type Given, submission } from "./harness.ts";

const signal = new AbortController().signal;
const started: WebUi[] = [];
afterEach(async () => {
  for (const ui of started.splice(0)) await ui.stop();
});

async function openUi(): Promise<WebUi> {
  const ui = await startWebUi();
  started.push(ui);
  return ui;
}

function connect(ui: WebUi, given: Partial<SdApiDeps> = {}) {
  const provider = createProvider({ baseUrl: ui.origin, clock: fakeClock(), waitMs: 0, ...given });
  /** Resolves once the server has the request. */
  const submit = async (request: Given = {}) => {
    const sent = submission(request);
    const operation = operationOf(await provider.submit(sent, signal));
    await ui.until(() => ui.queue.some(({ id }) => id === sent.attempt));
    return operation;
  };
  const poll = async (operation: Json) => provider.poll?.(operation, signal);
  const cancel = async (operation: Json) => provider.cancel?.(operation, signal);
  /** Polls until the answer that is on its way has come. */
  const end = async (operation: Json) => {
    for (;;) {
      const answer = await poll(operation);
      if (answer?.kind !== "pending") return answer;
    }
  };
  return { provider, submit, poll, cancel, end };
}

async function setup(given: Partial<SdApiDeps> = {}) {
  const ui = await openUi();
  return { ui, ...connect(ui, given) };
}

const PENDING = { kind: "pending", pollAfterMs: 1_000 } as const;
const LOST = {
  kind: "failed",
  code: "UPSTREAM_ERROR",
  message: "The provider no longer has this job.",
  isLost: true,
} as const;
const UNKNOWN = { kind: "failed", code: "OUTCOME_UNKNOWN" } as const;
const MADE = { ...UNKNOWN, message: "The provider made it, and its answer was lost." };
const picture = (text: string) => ({ kind: "bytes" as const, bytes: Buffer.from(text, "base64") });
const CANCELLED = { kind: "cancelled" } as const;

test("a task waits behind others' and is told its own progress alone", async () => {
  const { ui, submit, poll, end } = await setup();
  ui.addOther();
  const operation = await submit();
  expect(await poll(operation)).toEqual(PENDING);
  ui.end();
  expect(await poll(operation)).toEqual({ ...PENDING, progress: 36 });
  ui.end({ images: ["Zm94"] });
  expect(await end(operation)).toEqual({ kind: "succeeded", outputs: [picture("Zm94")] });
});

test("a grid before the pictures and maps after them are no outputs", async () => {
  const { ui, submit, end } = await setup();
  const operation = await submit({ n: 2 });
  ui.end({ images: ["R1JJRA==", "MQ==", "Mg==", "TUFQ"], info: { index_of_first_image: 1 } });
  expect(await end(operation)).toEqual({ kind: "succeeded", outputs: [picture("MQ=="), picture("Mg==")] });
});

test("pictures that were not made are not made up from maps", async () => {
  const { ui, submit, end } = await setup();
  const operation = await submit({ n: 3 });
  ui.end({ images: ["MQ==", "TUFQ", "TUFQ"], info: { all_seeds: [1] } });
  expect(await end(operation)).toEqual({ kind: "succeeded", outputs: [picture("MQ==")] });
});

test("what a server that was restarted had not made is lost, and may be made again", async () => {
  const { ui, provider, submit, end } = await setup();
  const operation = await submit();
  ui.restart();
  expect(await end(operation)).toEqual(LOST);
  expect(provider.repeatIsSafe).toBe(true);
});

test("work goes on when the connection is cut, is awaited, and is not made twice", async () => {
  const { ui, submit, poll, end } = await setup();
  const operation = await submit();
  ui.cut();
  expect(await poll(operation)).toEqual({ ...PENDING, progress: 36 });
  ui.end();
  expect(await end(operation)).toEqual(MADE);
});

test("what was made and lost is made again where the operator says so", async () => {
  const { ui, submit, end } = await setup({ mayRepeat: true });
  const operation = await submit();
  ui.cut();
  ui.end();
  expect(await end(operation)).toEqual(LOST);
});

test("a server that does not answer says nothing of a task whose connection was cut", async () => {
  const { ui, submit, poll, end } = await setup();
  const operation = await submit();
  ui.instead = () => new Response("starting", { status: 503 });
  expect(await poll(operation)).toEqual(PENDING);
  ui.restart();
  expect(await rejection(end(operation))).toMatchObject({ disposition: "retry" });
  ui.instead = () => undefined;
  expect(await end(operation)).toEqual(LOST);
});

test("another process awaits what is being made, and repeats nothing that may have been made", async () => {
  const { ui, submit } = await setup();
  const operation = await submit();
  const later = connect(ui);
  expect(await later.poll(operation)).toEqual({ ...PENDING, progress: 36 });
  ui.end();
  expect(await later.poll(operation)).toEqual(MADE);
  ui.restart();
  expect(await later.poll(operation)).toEqual(UNKNOWN);
  expect(await connect(ui, { mayRepeat: true }).poll(operation)).toEqual(LOST);
});

test("a lost answer of a submission is asked for by the attempt", async () => {
  const ui = await openUi();
  const { provider, poll } = connect(ui, { waitMs: 1_000 });
  const request = submission();
  const failing = rejection(provider.submit(request, signal));
  await ui.until(() => ui.queue.length > 0);
  ui.cut();
  expect(await failing).toMatchObject({ disposition: "unknown" });
  const operation = { task_id: String(request.attempt) };
  expect(await provider.recover?.(request, signal)).toEqual({ kind: "found", operation });
  ui.end();
  expect(await provider.recover?.(request, signal)).toEqual({ kind: "found", operation });
  expect(await poll(operation)).toEqual(MADE);
  expect(await provider.recover?.(submission(), signal)).toEqual({ kind: "absent" });
});

test("a server that is shared is never interrupted", async () => {
  const { ui, submit, poll, cancel } = await setup();
  const operation = await submit();
  expect(await cancel(operation)).toBe("unable");
  expect(await poll(operation)).toMatchObject({ kind: "pending" });
  expect(ui.asked).not.toContain("POST /sdapi/v1/interrupt");
});

test("a server of ours alone is interrupted when it makes the task, and not before", async () => {
  const { ui, submit, cancel, end } = await setup({ isExclusive: true });
  const other = ui.addOther();
  const operation = await submit();
  expect(await cancel(operation)).toBeUndefined();
  expect(ui.interrupted).toEqual([]);
  ui.end();
  expect(await cancel(operation)).toBeUndefined();
  expect(await end(operation)).toEqual(CANCELLED);
  expect(ui.interrupted).not.toContain(other.id);
  expect(ui.interrupted).toHaveLength(1);
});

test("nothing is interrupted while another task of ours might begin", async () => {
  const { ui, submit, cancel } = await setup({ isExclusive: true });
  const [first] = [await submit(), await submit()];
  expect(await cancel(first)).toBe("unable");
  expect(ui.interrupted).toEqual([]);
});

test("a task that is submitted during a cancel begins after the interruption", async () => {
  const { ui, provider, submit, cancel, end } = await setup({ isExclusive: true });
  const operation = await submit();
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  ui.instead = async (path) => {
    if (path !== "POST /sdapi/v1/interrupt") return undefined;
    asked.resolve();
    await gate.promise;
    return undefined;
  };
  const cancelling = cancel(operation);
  await asked.promise;
  const next = submission();
  const submitting = provider.submit(next, signal);
  ui.end();
  // Time enough for it to arrive.
  for (let i = 0; i < 5; i += 1) await fetch(`${ui.origin}/sdapi/v1/sd-models`);
  // The interruption arrives when the task that it was meant for is over.
  gate.resolve();
  await cancelling;
  await submitting;
  await ui.until(() => ui.queue.length > 0);
  expect(ui.interrupted).toEqual([]);
  expect(ui.queue.map(({ id }) => id)).toEqual([next.attempt]);
  expect(await end(operation)).toMatchObject({ kind: expect.stringMatching(/cancelled|succeeded/) });
});

test("what somebody has interrupted is half a picture, and is no result", async () => {
  const { ui, submit, end } = await setup();
  const operation = await submit();
  await fetch(`${ui.origin}/sdapi/v1/interrupt`, { method: "POST" });
  expect(await end(operation)).toEqual(CANCELLED);
});

test("two of us on one server get their own pictures", async () => {
  const ui = await openUi();
  const [one, two] = [connect(ui), connect(ui)];
  const operations = [await one.submit(), await two.submit()] as const;
  expect(await one.cancel(operations[0])).toBe("unable");
  ui.end({ images: ["MQ=="] });
  ui.end({ images: ["Mg=="] });
  expect(await one.end(operations[0])).toEqual({ kind: "succeeded", outputs: [picture("MQ==")] });
  expect(await two.end(operations[1])).toEqual({ kind: "succeeded", outputs: [picture("Mg==")] });
  expect([ui.interrupted, ui.bodies.length]).toEqual([[], 2]);
});

test("a server without the question for a task is waited for", async () => {
  const { ui, submit, poll, end, cancel } = await setup({ isExclusive: true });
  ui.instead = (path) =>
    path === "POST /internal/progress" ? Response.json({ detail: "Not Found" }, { status: 404 }) : undefined;
  const operation = await submit();
  expect(await poll(operation)).toEqual(PENDING);
  expect(await cancel(operation)).toBe("unable");
  ui.cut();
  expect(await end(operation)).toEqual(UNKNOWN);
});

test("a connection that breaks leaves the work to be asked for", async () => {
  let place = { active: true, queued: false, completed: false };
  const socket = Promise.withResolvers<Socket>();
  const upstream = await startUpstream(({ path }) => {
    if (path.endsWith("txt2img")) return (open) => socket.resolve(open);
    return path === "/internal/progress" ? { json: { ...place, progress: 0.5 } } : { json: [] };
  });
  const provider = createProvider({ baseUrl: upstream.origin, clock: fakeClock(), waitMs: 0 });
  const request = submission({ upstreamModel: "current" });
  const operation = operationOf(await provider.submit(request, signal));
  (await socket.promise).resetAndDestroy();
  await upstream.until(1);
  expect(await provider.poll?.(operation, signal)).toEqual({ ...PENDING, progress: 50 });
  place = { active: false, queued: false, completed: true };
  let answer = await provider.poll?.(operation, signal);
  while (answer?.kind === "pending") answer = await provider.poll?.(operation, signal);
  expect(answer).toEqual(MADE);
  upstream.stop();
});
