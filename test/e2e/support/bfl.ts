import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";
import { plainImage } from "./pictures.ts";

/** What the answers of Black Forest Labs are to be; the prompt of a request says which task is meant. */
export interface BflScript {
  /** In place of the answer that takes the job; undefined takes it. */
  readonly submission?: (prompt: string, count: number) => Scripted | undefined;
  /** In place of the poll's answer that the job is done. */
  readonly poll?: (prompt: string) => Scripted | undefined;
}

export interface Bfl {
  readonly upstream: ScriptedUpstream;
  script: BflScript;
  /** Submissions in the order they arrived, refused ones too. */
  readonly submissions: readonly BflSubmission[];
  /** Resolves when so many jobs were submitted. */
  submitted(count: number): Promise<void>;
  stop(): void;
}

export interface BflSubmission {
  readonly path: string;
  readonly key: string | null;
  readonly body: { readonly prompt: string; readonly [name: string]: unknown };
}

/** An image of 1024 × 1024 there costs this many cents. */
const BFL_CENTS = 3;

/** The API of Black Forest Labs, as far as tests need it: a job is done at its first poll, and reports what it costs. */
export async function startBfl(script: BflScript = {}): Promise<Bfl> {
  const picture = await plainImage(64, 48);
  const submissions: BflSubmission[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const upstream = await startUpstream((request) => answer(request));
  const bfl: Bfl = {
    upstream,
    script,
    submissions,
    submitted: (count) =>
      submissions.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: upstream.stop,
  };

  function submit(submission: BflSubmission): Scripted {
    const { prompt } = submission.body;
    submissions.push(submission);
    for (const { count, resolve } of waiting) if (submissions.length >= count) resolve();
    const count = submissions.filter(({ body }) => body.prompt === prompt).length;
    const id = encodeURIComponent(prompt);
    const polling = `${upstream.origin}/v1/get_result?id=${id}`;
    return bfl.script.submission?.(prompt, count) ?? { json: { id, polling_url: polling, cost: BFL_CENTS } };
  }

  function answer({ method, path, headers, body }: Arrived): Scripted {
    const key = headers.get("x-key");
    if (method === "POST") return submit({ path, key, body: JSON.parse(body.toString()) });
    if (path.startsWith("/sample/")) return { headers: { "content-type": "image/png" }, body: picture };
    const prompt = new URL(path, upstream.origin).searchParams.get("id") ?? "";
    const sample = `${upstream.origin}/sample/${encodeURIComponent(prompt)}.png`;
    return (
      bfl.script.poll?.(prompt) ?? {
        json: { id: prompt, status: "Ready", result: { sample }, cost: BFL_CENTS },
      }
    );
  }

  return bfl;
}

/** A poll's answer: the job is not done yet. */
export const BFL_PENDING: Scripted = { json: { id: "1", status: "Pending", result: null } };
/** The prompt or the picture is against the rules there; nothing is charged. */
export const BFL_MODERATED: Scripted = { json: { id: "1", status: "Request Moderated", result: null } };
