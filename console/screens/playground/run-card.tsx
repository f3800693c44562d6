import { useEffect, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { fileUrl, thumbnailUrl } from "../../api/files.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useStream } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { durationText } from "../../parts/duration.ts";
import { moneyText } from "../../parts/money.tsx";
import { Status } from "../../parts/status.tsx";
import { hrefOf } from "../../shell/router.ts";
import { say } from "../../shell/toasts.tsx";
import type { Run } from "./run.ts";
import { isLive, read } from "./runs.ts";

interface CardProps {
  /** Takes a result as an input of the next request. */
  readonly onUse: (url: string, taskId: string) => void;
  readonly run: Run;
  readonly name: string;
  readonly isPreviewed: boolean;
}

/** One run: how it goes, and what came of it. */
export function RunCard({ run, name, isPreviewed, onUse }: CardProps) {
  const { task, taskId, problem } = run;
  return (
    <article
      class="flex min-w-0 flex-col gap-3 rounded-xl border border-line bg-card p-3"
      aria-label={`Run of ${name}`}
    >
      <div class="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span class="font-medium">{name}</span>
        <span role="status">
          <Status word={problem !== undefined ? "refused" : (task?.status ?? "sending")} />
        </span>
        <span class="text-soft tabular-nums">{factsOf(run)}</span>
        {taskId !== undefined && (
          <a class="ml-auto text-accent underline-offset-2 hover:underline" href={hrefOf("tasks", taskId)}>
            Details
          </a>
        )}
      </div>
      {isLive(run) && <Under run={run} isPreviewed={isPreviewed} />}
      {problem !== undefined && <Refused run={run} />}
      {task?.status === "failed" && <Failed task={task} />}
      {task?.status === "completed" && <Results run={run} onUse={onUse} />}
      {task?.status === "cancelled" && <p class="text-soft">It was cancelled and cost nothing.</p>}
    </article>
  );
}

function factsOf({ task }: Run): string {
  if (task === undefined) return "";
  const took = task.completed_at === undefined ? undefined : tookText(task.completed_at - task.created_at);
  const held =
    task.usage === undefined && task.hold !== undefined ? `${moneyText(task.hold)} held` : undefined;
  const cost = task.usage === undefined ? undefined : moneyText(task.usage.cost);
  return [took, held ?? cost].filter(Boolean).join(" · ");
}

/** The API tells whole seconds. */
function tookText(seconds: number): string {
  return seconds < 1 ? "under 1 s" : durationText(seconds * 1_000);
}

function Under({ run, isPreviewed }: { readonly run: Run; readonly isPreviewed: boolean }) {
  const { task, taskId, isWaiting } = run;
  const [isCancelling, setCancelling] = useState(false);
  const cancel = async () => {
    if (taskId === undefined) return;
    setCancelling(true);
    try {
      await ask("POST /v1/tasks/{task_id}/cancel", { path: { task_id: taskId } });
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    }
    await read(taskId);
    setCancelling(false);
  };
  const place = task?.queue_position;
  return (
    <>
      {isPreviewed && taskId !== undefined && <Previews taskId={taskId} />}
      <div class="flex items-center gap-3">
        <progress
          class="h-1.5 grow accent-accent"
          max={100}
          {...(task?.progress ? { value: task.progress } : {})}
          aria-label="Progress"
        />
        <span class="text-sm text-soft tabular-nums">
          {task?.progress ? `${task.progress} %` : <Elapsed since={run.at} />}
        </span>
        {taskId !== undefined && (
          <Button isBusy={isCancelling || task?.cancel_requested === true} onClick={() => void cancel()}>
            {task?.cancel_requested ? "Cancelling" : "Cancel"}
          </Button>
        )}
      </div>
      {isWaiting && (
        <p role="status" class="text-sm text-warn">
          The service does not answer yet. It is sent again until it does, and is made once.
        </p>
      )}
      {place !== undefined && place > 0 && <p class="text-sm text-soft">{place} before it in the queue.</p>}
    </>
  );
}

function Elapsed({ since }: { readonly since: number }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((turn) => turn + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <>{Math.max(0, Math.round((Date.now() - since) / 1_000))} s</>;
}

/** Early versions, as they come; nobody keeps them. A page in the background follows none. */
function Previews({ taskId }: { readonly taskId: string }) {
  const [seen, setSeen] = useState<ReadonlyMap<number, Schemas["Preview"]>>(new Map());
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useStream(isHidden ? undefined : "GET /v1/tasks/{task_id}/events", { task_id: taskId }, (event) => {
    if (event.name === "preview")
      setSeen((before) => new Map(before).set(event.data.output_index ?? 0, event.data));
  });
  if (seen.size === 0) return null;
  return (
    <ul class="grid grid-cols-[repeat(auto-fill,minmax(min(10rem,100%),1fr))] gap-2">
      {[...seen].map(([at, { media_type, b64_json, index }]) => (
        <li key={at}>
          <img
            class="block max-h-72 w-full rounded-lg bg-sunk object-contain"
            src={`data:${media_type};base64,${b64_json}`}
            alt={`Early version ${index + 1} of result ${at + 1}`}
          />
        </li>
      ))}
    </ul>
  );
}

const DO_FIRST: Readonly<Record<string, string>> = {
  model_not_available: "Choose another model above. What you gave stays.",
  insufficient_quota: "Whoever manages this service can credit the account, or give the key a larger quota.",
  permission_denied: "Whoever manages this service can give the key what it lacks.",
  rate_limit_exceeded: "Wait a moment, then press Run again.",
  request_too_large: "Give smaller files, or put them on the web and give their addresses.",
};

function Refused({ run: { problem } }: { readonly run: Run }) {
  if (problem === undefined) return null;
  const advice = DO_FIRST[problem.code];
  const isRefusal = problem.status >= 400 && problem.status < 500;
  return (
    <div role="alert">
      <p class="font-medium break-words text-bad">{problem.message}</p>
      <p class="mt-1 text-sm text-soft">
        {isRefusal
          ? `${advice ?? "Change the request and press Run again."} Nothing was made, and nothing is charged.`
          : "It may have been made all the same: look among the tasks before you press Run again."}
      </p>
      {problem.requestId !== undefined && (
        <p class="mt-1 text-sm text-soft">
          Request <code class="font-mono break-all">{problem.requestId}</code>
        </p>
      )}
    </div>
  );
}

function Failed({ task }: { readonly task: NonNullable<Run["task"]> }) {
  return (
    <div role="alert">
      <p class="font-medium break-words text-bad">{task.error_message ?? task.error ?? "It failed."}</p>
      {task.advice !== undefined && <p class="mt-1">{task.advice}</p>}
      <p class="mt-1 text-sm text-soft">
        <code class="font-mono">{task.error_code}</code> · it was not charged
      </p>
    </div>
  );
}

function Shown({
  url,
  kind,
  label,
  prompt,
}: Pick<Run, "kind" | "prompt"> & { readonly url: string; readonly label: string }) {
  // A small one is the first choice; an SVG, and what has none, is shown as it is.
  const [source, setSource] = useState(thumbnailUrl(url, 1280));
  const whole = fileUrl(url);
  return kind === "video" ? (
    // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for what was generated
    <video
      class="block max-h-[70dvh] w-full rounded-lg bg-sunk object-contain"
      src={whole}
      controls
      loop
      preload="metadata"
      aria-label={label}
    />
  ) : (
    <a href={whole} target="_blank" rel="noreferrer">
      <img
        class="block max-h-[70dvh] w-full rounded-lg bg-sunk object-contain"
        src={source}
        onError={() => setSource(whole)}
        alt={`${label}${prompt ? `: ${prompt.slice(0, 200)}` : ""}`}
      />
    </a>
  );
}

function Results({ run, onUse }: Pick<CardProps, "run" | "onUse">) {
  const { task, kind, prompt } = run;
  const { result = [], result_issues: issues = [], task_id = "" } = task ?? {};
  if (task?.files_removed_at !== undefined)
    return <p class="text-soft">Its files were kept long enough, and are removed.</p>;
  return (
    <>
      <ul
        class={`grid gap-3 ${result.length > 1 ? "grid-cols-[repeat(auto-fill,minmax(min(14rem,100%),1fr))]" : ""}`}
      >
        {result.map((url, index) => (
          <li key={url} class="flex min-w-0 flex-col gap-1">
            <Shown url={url} kind={kind} label={`Result ${index + 1}`} prompt={prompt} />
            <div class="flex flex-wrap gap-1">
              <a
                class="inline-flex min-h-9 items-center rounded-md px-3 text-sm font-medium text-soft hover:bg-sunk hover:text-ink"
                href={fileUrl(url)}
                download
                aria-label={`Download result ${index + 1}`}
              >
                Download
              </a>
              {kind === "image" && (
                <Button
                  look="quiet"
                  aria-label={`Use as input: result ${index + 1}`}
                  onClick={() => onUse(url, task_id)}
                >
                  Use as input
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {issues.map(({ index, message }) => (
        <p key={index} class="text-sm text-warn">
          Result {index + 1} is missing and was not charged: {message}
        </p>
      ))}
    </>
  );
}
