import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../src/domain/json.ts";
import type { PollResult } from "../../../src/domain/ports/provider.ts";
import { InputInvalidError } from "../../../src/studio/render-job.ts";
import { fetchAll, operationOf, pollToEnd, rejection } from "../../contracts/provider.ts";
import { inputFile, openSandbox, type SandboxHarness } from "./harness.ts";

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

/** A sandbox whose outputs are files. */
async function setupWithFiles(): Promise<SandboxHarness> {
  const sandbox = await setup();
  sandbox.renderer.leastBytes = 1024 * 1024 + 1;
  return sandbox;
}

function refs(end: PollResult): Json[] {
  if (end.kind !== "succeeded") throw new Error(`It ended as ${end.kind}.`);
  return end.outputs.map((output) => (output.kind === "remote" ? output.ref : null));
}

/** The bytes of all outputs. */
function outputsOf(provider: SandboxHarness["provider"], end: PollResult): Promise<Uint8Array[]> {
  if (end.kind !== "succeeded") throw new Error(`It ended as ${end.kind}.`);
  const outputs = end.outputs.map(async (output) => {
    if (output.kind === "missing") throw new Error("An output is missing.");
    return output.kind === "bytes" ? output.bytes : fetchAll(provider, output.ref);
  });
  return Promise.all(outputs);
}

const files = (sandbox: SandboxHarness) => readdirSync(join(sandbox.directory, "files")).sort();

test("nothing is on the disk before the first use, nor needed to stop", async () => {
  const sandbox = await setup();
  expect(existsSync(sandbox.directory)).toBe(false);
  await sandbox.provider.stop();
  expect(existsSync(sandbox.directory)).toBe(false);
});

test("each of several outputs is drawn by its own index, and all from the seed of the prompt", async () => {
  const sandbox = await setup();
  await sandbox.provider.submit(sandbox.submission({ n: 3 }), signal);
  await sandbox.advance(0);
  const { jobs } = sandbox.renderer;
  expect(jobs.map((job) => (job.kind === "video" ? undefined : job.index)).sort()).toEqual([0, 1, 2]);
  expect(new Set(jobs.map((job) => job.seed)).size).toBe(1);
});

test("a second submission of one attempt is refused, and counted in the upstream's own memory", async () => {
  const sandbox = await setup();
  const request = sandbox.submission();
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  expect(await rejection(sandbox.provider.submit(request, signal))).toBeInstanceOf(Error);
  expect(await pollToEnd(sandbox, sandbox.provider, operation)).toMatchObject({ kind: "succeeded" });
  const db = new Database(join(sandbox.directory, "upstream.db"), { readonly: true });
  expect(db.query("select attempt, submissions from operation").all()).toEqual([
    { attempt: request.attempt, submissions: 2 },
  ]);
  db.close();
});

test.each([0, 1024 * 1024 + 1])(
  "an output of at least %d bytes missing after a crash is rendered again, with equal bytes and from the kept inputs",
  async (leastBytes) => {
    const sandbox = await setup();
    sandbox.renderer.leastBytes = leastBytes;
    const request = sandbox.submission({ inputs: [inputFile("image", new Uint8Array([1, 2, 3]))] });
    const operation = operationOf(await sandbox.provider.submit(request, signal));
    await sandbox.advance(0);
    const [first] = sandbox.renderer.jobs;
    for (const name of files(sandbox))
      if (name.includes(".out-")) rmSync(join(sandbox.directory, "files", name));
    const provider = await sandbox.restart();
    const [bytes] = await outputsOf(provider, await pollToEnd(sandbox, provider, operation));
    expect(bytes).toEqual(new TextEncoder().encode(JSON.stringify(first).padEnd(leastBytes)));
    expect(sandbox.renderer.jobs).toEqual([first!, first!]);
  },
);

test("small outputs are no files, come with the answer, and are rendered again for whoever asks again", async () => {
  const sandbox = await setup();
  const { provider, renderer } = sandbox;
  const operation = operationOf(await provider.submit(sandbox.submission({ n: 2 }), signal));
  const end = await pollToEnd(sandbox, provider, operation);
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "bytes" }, { kind: "bytes" }] });
  expect(files(sandbox)).toEqual([]);
  expect(renderer.jobs).toHaveLength(2);
  const again = await provider.poll(operation, signal);
  expect(await outputsOf(provider, again)).toEqual(await outputsOf(provider, end));
  expect(renderer.jobs).toHaveLength(4);
});

test("small outputs beyond 16 MB that nobody came for are files", async () => {
  const sandbox = await setup();
  sandbox.renderer.leastBytes = 1024 * 1024;
  for (let i = 0; i < 17; i++) await sandbox.provider.submit(sandbox.submission(), signal);
  await sandbox.advance(0);
  expect(files(sandbox)).toHaveLength(1);
});

describe("a picture of a few pixels without a delay", () => {
  const tiny = { parameters: { size: "2x2", sandbox: { delay_ms: 0 } }, n: 2 };

  test("comes with the answer to its submission", async () => {
    const sandbox = await setup();
    const submitted = await sandbox.provider.submit(sandbox.submission(tiny), signal);
    expect(submitted).toMatchObject({ kind: "outputs", outputs: [{ kind: "bytes" }, { kind: "bytes" }] });
    expect(sandbox.renderer.jobs).toEqual([]);
  });

  test("whose answer was lost is found, and is the same picture", async () => {
    const sandbox = await setup();
    const request = sandbox.submission(tiny);
    const submitted = await sandbox.provider.submit(request, signal);
    const provider = await sandbox.restart();
    const found = await provider.recover(request, signal);
    if (found.kind !== "found" || submitted.kind !== "outputs") throw new Error(`It is ${found.kind}.`);
    expect(await rejection(provider.submit(request, signal))).toBeInstanceOf(Error);
    const end = await provider.poll(found.operation, signal);
    const jobs = sandbox.renderer.jobs.length;
    expect((await outputsOf(provider, end)).length).toBe(2);
    // The sandbox of this test has another renderer for what is rendered later.
    expect(sandbox.renderer.jobs.slice(jobs)).toMatchObject([{ width: 2 }, { width: 2 }]);
  });

  test.each([
    ["a delay", { size: "2x2", sandbox: { delay_ms: 1 } }],
    ["a size that takes a drawing", { size: "17x2", sandbox: { delay_ms: 0 } }],
    ["another end", { size: "2x2", sandbox: { delay_ms: 0, outcome: "failed" } }],
    ["an output that gets lost", { size: "2x2", sandbox: { delay_ms: 0, outputs_lost: true } }],
  ] as const)("is asked after with %s", async (_, parameters) => {
    const sandbox = await setup();
    const submitted = await sandbox.provider.submit(sandbox.submission({ parameters }), signal);
    expect(submitted.kind).toBe("operation");
  });
});

test("a poll of a picture that is being drawn is answered when it is done", async () => {
  const sandbox = await setup();
  const { promise, resolve } = Promise.withResolvers<void>();
  sandbox.renderer.hold = promise;
  sandbox.waits = true;
  const parameters = { sandbox: { delay_ms: 0 } };
  const submitted = await sandbox.provider.submit(sandbox.submission({ parameters }), signal);
  expect(submitted).toMatchObject({ pollAfterMs: 0 });
  const polling = sandbox.provider.poll(operationOf(submitted), signal);
  const controller = new AbortController();
  const aborting = sandbox.provider.poll(operationOf(submitted), controller.signal);
  controller.abort();
  expect(await rejection(aborting)).toBe(controller.signal.reason);
  resolve();
  expect(await polling).toMatchObject({ kind: "succeeded" });
});

test("an output is not kept once it was fetched whole", async () => {
  const sandbox = await setupWithFiles();
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission({ n: 2 }), signal));
  const outputs = refs(await pollToEnd(sandbox, sandbox.provider, operation));
  expect(files(sandbox)).toHaveLength(2);
  for (const ref of outputs) await fetchAll(sandbox.provider, ref);
  expect(files(sandbox)).toEqual([]);
});

test("an output whose fetching was interrupted is there for the next try", async () => {
  const sandbox = await setupWithFiles();
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission(), signal));
  const [ref] = refs(await pollToEnd(sandbox, sandbox.provider, operation));
  for await (const _ of await sandbox.provider.fetchOutput(ref!, signal)) break;
  expect(files(sandbox)).toHaveLength(1);
  const controller = new AbortController();
  const chunks = await sandbox.provider.fetchOutput(ref!, controller.signal);
  controller.abort();
  expect(await rejection(Array.fromAsync(chunks))).toBe(controller.signal.reason);
  expect(files(sandbox)).toHaveLength(1);
});

test("files nobody came for, and inputs, go ten minutes after the end; operations a day later", async () => {
  const sandbox = await setupWithFiles();
  const { provider } = sandbox;
  const request = sandbox.submission({ inputs: [inputFile("image", new Uint8Array([1]))] });
  const operation = operationOf(await provider.submit(request, signal));
  await pollToEnd(sandbox, provider, operation);
  expect(files(sandbox)).toHaveLength(2);
  const next = () =>
    provider.submit(sandbox.submission({ parameters: { sandbox: { outcome: "hang" } } }), signal);
  await sandbox.advance(599_000);
  await next();
  expect(files(sandbox)).toHaveLength(2);
  await sandbox.advance(2_000);
  await next();
  expect(files(sandbox)).toEqual([]);
  expect(await provider.poll(operation, signal)).toMatchObject({ kind: "succeeded" });
  await sandbox.advance(86_400_000);
  await next();
  expect(await rejection(provider.poll(operation, signal))).toMatchObject({ disposition: "fail" });
});

test("a cancelled operation leaves no files and renders no further", async () => {
  const sandbox = await setup();
  sandbox.renderer.hold = new Promise(() => undefined);
  const request = sandbox.submission({ inputs: [inputFile("image", new Uint8Array([1]))] });
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  await sandbox.provider.cancel(operation, signal);
  expect(files(sandbox)).toEqual([]);
});

test("files of a submission that a crash cut off are removed at the next start", async () => {
  const sandbox = await setupWithFiles();
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission({ n: 1 }), signal));
  await sandbox.advance(0);
  const [kept] = files(sandbox);
  writeFileSync(join(sandbox.directory, "files", "sandbox_lost.in-0"), "x");
  writeFileSync(join(sandbox.directory, "files", `${kept}.7.tmp`), "half");
  const provider = await sandbox.restart();
  await provider.poll(operation, signal);
  expect(files(sandbox)).toEqual([kept!]);
});

test("an input the renderer refuses fails the operation at once, with its words", async () => {
  const sandbox = await setup();
  sandbox.renderer.failures.push(new InputInvalidError("The mask has no transparent areas."));
  const request = sandbox.submission({ parameters: { sandbox: { delay_ms: 60_000 } } });
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  await sandbox.advance(0);
  const failed = {
    kind: "failed",
    code: "INPUT_INVALID",
    message: "The mask has no transparent areas.",
  } as const;
  expect(await sandbox.provider.poll(operation, signal)).toEqual(failed);
});

test("a renderer that fails once is tried again; one that goes on failing fails the operation", async () => {
  const sandbox = await setup();
  sandbox.renderer.failures.push(new Error("The worker broke."));
  const lucky = operationOf(await sandbox.provider.submit(sandbox.submission(), signal));
  expect(await pollToEnd(sandbox, sandbox.provider, lucky)).toMatchObject({ kind: "succeeded" });
  for (let i = 0; i < 3; i++) sandbox.renderer.failures.push(new Error("The worker broke."));
  const unlucky = operationOf(await sandbox.provider.submit(sandbox.submission(), signal));
  const end = await pollToEnd(sandbox, sandbox.provider, unlucky);
  expect(end).toEqual({ kind: "failed", code: "UPSTREAM_ERROR", message: undefined });
});

test("a disk that takes no output is trouble that may pass", async () => {
  const sandbox = await setupWithFiles();
  const folder = join(sandbox.directory, "files");
  // Opens the folder.
  await sandbox.provider.recover(sandbox.submission(), signal);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  const request = sandbox.submission({ parameters: { sandbox: { delay_ms: 0 } } });
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  await sandbox.advance(0);
  expect(await rejection(sandbox.provider.poll(operation, signal))).toMatchObject({ disposition: "retry" });
  rmSync(folder);
  mkdirSync(folder);
  expect(await pollToEnd(sandbox, sandbox.provider, operation)).toMatchObject({ kind: "succeeded" });
});

test("a renderer that cannot open its files is trouble that may pass", async () => {
  const sandbox = await setup();
  for (let i = 0; i < 3; i++)
    sandbox.renderer.failures.push(new Error("EMFILE: too many open files, open '/x'"));
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission(), signal));
  await sandbox.advance(0);
  expect(await rejection(sandbox.provider.poll(operation, signal))).toMatchObject({ disposition: "retry" });
  expect(await pollToEnd(sandbox, sandbox.provider, operation)).toMatchObject({ kind: "succeeded" });
});

test("a route to a generator the sandbox does not have is tried no further", async () => {
  const sandbox = await setup();
  const request = sandbox.submission({ upstreamModel: "sculpture" });
  expect(await rejection(sandbox.provider.submit(request, signal))).toMatchObject({ disposition: "reroute" });
});

test("an upstream memory damaged by a power failure is replaced by an empty one", async () => {
  const sandbox = await setup();
  const operation = operationOf(await sandbox.provider.submit(sandbox.submission(), signal));
  await sandbox.provider.stop();
  writeFileSync(join(sandbox.directory, "upstream.db"), "not a database".repeat(1_000));
  const provider = await sandbox.restart();
  expect(await rejection(provider.poll(operation, signal))).toMatchObject({ disposition: "fail" });
  await provider.submit(sandbox.submission(), signal);
});

test("files that a crash left when they were to be removed go at the next start", async () => {
  const sandbox = await setup();
  const request = sandbox.submission({ inputs: [inputFile("image", new Uint8Array([1]))] });
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  await pollToEnd(sandbox, sandbox.provider, operation);
  expect(files(sandbox)).not.toEqual([]);
  await sandbox.provider.stop();
  const memory = new Database(join(sandbox.directory, "upstream.db"));
  memory.run("update operation set files_kept = 0");
  memory.close();
  const provider = await sandbox.restart();
  expect(await provider.poll(operation, signal)).toMatchObject({ kind: "succeeded" });
  expect(files(sandbox)).toEqual([]);
});

test("a cancel that comes too late takes nothing from the outputs", async () => {
  const sandbox = await setupWithFiles();
  const request = sandbox.submission({ inputs: [inputFile("image", new Uint8Array([1]))] });
  const operation = operationOf(await sandbox.provider.submit(request, signal));
  const [ref] = refs(await pollToEnd(sandbox, sandbox.provider, operation));
  const before = files(sandbox);
  await sandbox.provider.cancel(operation, signal);
  expect(files(sandbox)).toEqual(before);
  expect((await fetchAll(sandbox.provider, ref!)).length).toBeGreaterThan(0);
});

test("a submission aborted while its inputs are read, or whose inputs cannot be read, is not accepted", async () => {
  const sandbox = await setup();
  const controller = new AbortController();
  const aborting = inputFile("image", new Uint8Array([1]));
  const aborted = sandbox.submission({ inputs: [aborting] });
  const submitting = rejection(sandbox.provider.submit(aborted, controller.signal));
  controller.abort();
  expect(await submitting).toBe(controller.signal.reason);
  const broken = sandbox.submission({
    inputs: [{ ...aborting, content: Bun.file("/nowhere/at/all") }],
  });
  expect(await rejection(sandbox.provider.submit(broken, signal))).toMatchObject({ disposition: "retry" });
  for (const submission of [aborted, broken]) {
    expect(await sandbox.provider.recover(submission, signal)).toEqual({ kind: "absent" });
  }
  expect(files(sandbox)).toEqual([]);
});

const WIDE = { ...inputFile("image", new Uint8Array([1])), width: 257, height: 256 };

test.each([
  [{ parameters: { size: "1024x1025" } }, true],
  [{ parameters: { size: "1024x1024" } }, false],
  [{ upstreamModel: "upscale", parameters: { factor: 4 }, inputs: [WIDE] }, true],
  [{ upstreamModel: "upscale", parameters: { factor: 2 }, inputs: [WIDE] }, false],
  [{ upstreamModel: "video" }, false],
])("a picture for which there is too little memory is not begun: %j", async (given, isRefused) => {
  const sandbox = await openSandbox(16 * 1024 * 1024);
  opened.push(sandbox);
  const submitting = sandbox.provider.submit(sandbox.submission(given), signal);
  if (!isRefused) return void (await submitting);
  expect(await rejection(submitting)).toMatchObject({
    disposition: "fail",
    message: expect.stringContaining("memory for pictures of 1 million pixels"),
  });
});
