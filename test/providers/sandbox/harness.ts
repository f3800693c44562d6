import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { InputFile, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import type { InputRole } from "../../../src/domain/task/request.ts";
import { createSandboxProvider, type SandboxProvider } from "../../../src/providers/sandbox/adapter.ts";
import type { Renderer } from "../../../src/studio/render.ts";
import type { Rendered, RenderJob } from "../../../src/studio/render-job.ts";

/** A renderer that answers with the job as text, at once, and as a test tells it. */
export interface FakeRenderer extends Renderer {
  readonly jobs: RenderJob[];
  /** In place of the next results: thrown, once each. */
  readonly failures: Error[];
  /** Outputs have at least so many bytes, and are files when they are not small. */
  leastBytes: number;
  /** While set, nothing is finished. */
  hold?: Promise<void> | undefined;
}

function createFakeRenderer(): FakeRenderer {
  const jobs: RenderJob[] = [];
  const failures: Error[] = [];
  const renderer: FakeRenderer = {
    jobs,
    failures,
    leastBytes: 0,
    async render(job, signal): Promise<Rendered> {
      signal.throwIfAborted();
      jobs.push(job);
      await renderer.hold;
      signal.throwIfAborted();
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const bytes = new TextEncoder().encode(JSON.stringify(job).padEnd(renderer.leastBytes));
      return { bytes, contentType: job.kind === "video" ? "video/mp4" : "image/png", width: 1, height: 1 };
    },
    stop: async () => undefined,
  };
  return renderer;
}

export interface Submission {
  readonly taskId?: string;
  readonly upstreamModel?: string;
  readonly prompt?: string;
  readonly n?: number;
  readonly parameters?: { readonly [name: string]: Json };
  readonly inputs?: readonly InputFile[];
}

/** A sandbox on a folder of its own, with a clock that stands still and the fake renderer. */
export interface SandboxHarness {
  provider: SandboxProvider;
  readonly renderer: FakeRenderer;
  readonly directory: string;
  now: number;
  /** While set, nothing that waits for a time goes on; otherwise it goes on at once. */
  waits?: boolean;
  submission(submission?: Submission): SubmitRequest;
  advance(ms: number): Promise<void>;
  restart(): Promise<SandboxProvider>;
  stop(): Promise<void>;
}

let attempts = 0;

export async function openSandbox(pictureBytes?: number): Promise<SandboxHarness> {
  const directory = join(mkdtempSync(join(tmpdir(), "svc-sandbox-")), "data");
  const renderer = createFakeRenderer();
  const started: SandboxProvider[] = [];
  const start = (): SandboxProvider => {
    const provider = createSandboxProvider({ directory, clock, renderer, concurrency: 8, pictureBytes });
    started.push(provider);
    return provider;
  };
  const clock: Clock = {
    now: () => harness.now,
    elapsed: () => harness.now,
    after: (_, run) => {
      if (harness.waits) return () => undefined;
      const timer = setImmediate(run);
      return () => clearImmediate(timer);
    },
  };
  const harness: SandboxHarness = {
    provider: start(),
    renderer,
    directory,
    now: 1_700_000_000_000,
    submission: (submission = {}) => toRequest(submission),
    async advance(ms) {
      harness.now += ms;
      if (renderer.hold === undefined) await harness.provider.idle();
    },
    async restart() {
      // Both would be one process here, and write each other's files.
      if (renderer.hold === undefined) await harness.provider.idle();
      harness.provider = start();
      return harness.provider;
    },
    async stop() {
      for (const provider of started) await provider.stop();
      rmSync(join(directory, ".."), { recursive: true });
    },
  };
  return harness;
}

function toRequest(submission: Submission): SubmitRequest {
  const attempt = `att_${String(++attempts).padStart(26, "0")}`;
  const upstreamModel = submission.upstreamModel ?? "picture";
  return {
    attempt: attempt as AttemptId,
    taskId: (submission.taskId ?? attempt.replace("att_", "task_")) as TaskId,
    upstreamModel,
    request: {
      kind: upstreamModel === "picture" ? "image" : "video",
      model: `sandbox-${upstreamModel}` as ModelId,
      mode: "any",
      prompt: submission.prompt ?? "A red fox",
      n: submission.n ?? 1,
      parameters: submission.parameters ?? {},
      inputs: [],
    },
    inputs: submission.inputs ?? [],
  };
}

export function inputFile(role: InputRole, bytes: Uint8Array): InputFile {
  const facts = { type: "image/png", width: 1, height: 1, sha256: "", sizeBytes: bytes.length } as const;
  return { role, ...facts, content: new Blob([bytes]) };
}
