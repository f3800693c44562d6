import { afterEach, describe, expect, test } from "bun:test";
import type { Json } from "../../../src/domain/json.ts";
import { ProviderError } from "../../../src/domain/ports/provider.ts";
import { operationOf, pollToEnd, rejection } from "../../contracts/provider.ts";
import { openSandbox, type SandboxHarness, type Submission } from "./harness.ts";

const signal = new AbortController().signal;
const opened: SandboxHarness[] = [];
afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.stop();
});

async function setup(): Promise<SandboxHarness> {
  const sandbox = await openSandbox();
  opened.push(sandbox);
  return sandbox;
}

/** Submits with a `sandbox` parameter and lets the rendering finish. */
async function rehearse(sandbox: SandboxHarness, how: { [name: string]: Json }, submission: Submission = {}) {
  const request = sandbox.submission({
    ...submission,
    parameters: { ...submission.parameters, sandbox: how },
  });
  const submitted = await sandbox.provider.submit(request, signal);
  await sandbox.advance(0);
  const operation = operationOf(submitted);
  return { operation, poll: () => sandbox.provider.poll(operation, signal), submitted };
}

describe("delay_ms", () => {
  test("the operation is done when it has passed, and not a millisecond before", async () => {
    const sandbox = await setup();
    const { poll } = await rehearse(sandbox, { delay_ms: 1_000 });
    await sandbox.advance(999);
    expect(await poll()).toEqual({ kind: "pending", progress: 99, pollAfterMs: 1 });
    await sandbox.advance(1);
    expect(await poll()).toMatchObject({ kind: "succeeded" });
  });

  test("of 0 leaves nothing but the rendering to wait for", async () => {
    const sandbox = await setup();
    const { poll } = await rehearse(sandbox, { delay_ms: 0 });
    expect(await poll()).toMatchObject({ kind: "succeeded" });
  });

  test.each([
    ["picture", 400],
    ["video", 1_500],
  ])("left out, a %s takes %i ms", async (upstreamModel, delayMs) => {
    const sandbox = await setup();
    const { poll } = await rehearse(sandbox, {}, { upstreamModel });
    await sandbox.advance(delayMs - 1);
    expect(await poll()).toMatchObject({ kind: "pending" });
    await sandbox.advance(1);
    expect(await poll()).toMatchObject({ kind: "succeeded" });
  });

  test("progress follows it, and a long wait is looked at ten times", async () => {
    const sandbox = await setup();
    const { poll, submitted } = await rehearse(sandbox, { delay_ms: 60_000 });
    expect(submitted).toMatchObject({ pollAfterMs: 6_000 });
    await sandbox.advance(15_000);
    expect(await poll()).toEqual({ kind: "pending", progress: 25, pollAfterMs: 6_000 });
  });

  test("that has passed does not end an operation still being rendered", async () => {
    const sandbox = await setup();
    const { promise, resolve } = Promise.withResolvers<void>();
    sandbox.renderer.hold = promise;
    const { poll } = await rehearse(sandbox, { delay_ms: 0 });
    await sandbox.advance(300);
    const pending = await poll();
    expect(pending).toMatchObject({ kind: "pending" });
    if (pending.kind === "pending") expect(pending.progress).toBeWithin(1, 100);
    sandbox.renderer.hold = undefined;
    resolve();
    await sandbox.advance(0);
    expect(await poll()).toMatchObject({ kind: "succeeded" });
  });
});

describe("outcome", () => {
  test.each([
    [{ outcome: "failed" }, { kind: "failed", code: "UPSTREAM_ERROR", message: undefined }],
    [
      { outcome: "failed", error_code: "UPSTREAM_TIMEOUT" },
      { kind: "failed", code: "UPSTREAM_TIMEOUT", message: undefined },
    ],
    [{ outcome: "moderated" }, { kind: "failed", code: "CONTENT_MODERATED", message: undefined }],
  ] as const)("%j fails after the delay", async (how, end) => {
    const sandbox = await setup();
    const { poll } = await rehearse(sandbox, { ...how, delay_ms: 100 });
    expect(await poll()).toMatchObject({ kind: "pending" });
    await sandbox.advance(100);
    expect(await poll()).toEqual(end);
    expect(sandbox.renderer.jobs).toEqual([]);
  });

  test("hang never ends by itself", async () => {
    const sandbox = await setup();
    const { operation, poll } = await rehearse(sandbox, { outcome: "hang" });
    await sandbox.advance(86_400_000);
    expect(await poll()).toEqual({ kind: "pending", progress: 50, pollAfterMs: undefined });
    await sandbox.provider.cancel(operation, signal);
    expect(await poll()).toEqual({ kind: "cancelled" });
  });
});

test("fail_times refuses as many submissions of a task, whatever their attempt, and then accepts", async () => {
  const sandbox = await setup();
  const submission = { taskId: "task_1", parameters: { sandbox: { fail_times: 3 } } };
  for (let i = 0; i < 3; i++) {
    const request = sandbox.submission(submission);
    const error = await rejection(sandbox.provider.submit(request, signal));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED" });
    expect(await sandbox.provider.recover(request, signal)).toEqual({ kind: "absent" });
  }
  const other = sandbox.submission({ ...submission, taskId: "task_2" });
  expect(await rejection(sandbox.provider.submit(other, signal))).toBeInstanceOf(ProviderError);
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission(submission), signal));
  expect(await pollToEnd(sandbox, sandbox.provider, operation)).toMatchObject({ kind: "succeeded" });
});

test("outputs_lost succeeds with outputs that cannot be had", async () => {
  const sandbox = await setup();
  const { operation } = await rehearse(sandbox, { outputs_lost: true });
  const end = await pollToEnd(sandbox, sandbox.provider, operation);
  if (end.kind !== "succeeded" || end.outputs[0]?.kind !== "remote")
    throw new Error(`Unexpected: ${end.kind}`);
  const error = await rejection(sandbox.provider.fetchOutput(end.outputs[0].ref, signal));
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ disposition: "fail", code: "FINALIZATION_FAILED" });
});
