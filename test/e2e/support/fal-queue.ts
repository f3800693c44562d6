import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";
import { plainImage } from "./pictures.ts";

/** fal's queue, as far as tests of its calls need it. */
export interface FalQueue {
  readonly upstream: ScriptedUpstream;
  /** What was submitted, in order: where its job is, and where it may call. */
  readonly jobs: FalJob[];
  /** Resolves when so many jobs were submitted. */
  submitted(count: number): Promise<void>;
  stop(): void;
}

export interface FalJob {
  readonly id: string;
  /** The `fal_webhook` of its submission. */
  readonly hook: string | undefined;
  /** How often it was asked after. */
  polls: number;
  isDone: boolean;
}

export async function startFalQueue(): Promise<FalQueue> {
  const picture = await plainImage(64, 48);
  const jobs: FalJob[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const upstream = await startUpstream((request) => answer(request));

  function answer({ method, path }: Arrived): Scripted {
    const url = new URL(path, upstream.origin);
    if (url.pathname.startsWith("/files/"))
      return { headers: { "content-type": "image/png" }, body: picture };
    if (method === "POST") return submit(url.searchParams.get("fal_webhook") ?? undefined);
    const [, id, verb] = /\/requests\/([^/?]+)(?:\/(status))?/.exec(path) ?? [];
    const job = jobs.find((each) => each.id === id);
    if (job === undefined) return { status: 404, json: { detail: "Request not found" } };
    if (verb === "status") {
      job.polls += 1;
      return { json: { status: job.isDone ? "COMPLETED" : "IN_PROGRESS", request_id: id } };
    }
    const images = [
      { url: `${upstream.origin}/files/1.png`, width: 64, height: 48, content_type: "image/png" },
    ];
    return { json: { images, seed: 1, has_nsfw_concepts: [false], prompt: "p", timings: {} } };
  }

  function submit(hook: string | undefined): Scripted {
    const id = `job-${jobs.length + 1}`;
    jobs.push({ id, hook, polls: 0, isDone: false });
    for (const { count, resolve } of waiting) if (jobs.length >= count) resolve();
    return { json: { status: "IN_QUEUE", request_id: id, queue_position: 0 } };
  }

  return {
    upstream,
    jobs,
    submitted: (count) =>
      jobs.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: upstream.stop,
  };
}
