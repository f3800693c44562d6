import type { ComponentChildren } from "preact";
import type { Operations } from "../../api/published.d.ts";
import { counted } from "../../parts/count.ts";
import { durationText } from "../../parts/duration.ts";
import { Status, type Tone } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";

type Job = Operations["GET /admin/v1/backups"]["data"]["job"];

const RUNNING_MS = 2_000;
/** Somebody else may begin one. */
const IDLE_MS = 60_000;

const TONES: Readonly<Record<string, Tone>> = { running: "busy", done: "good", failed: "bad" };

/** How often to ask after a job. */
export function stepMs(status: string | undefined): number {
  return status === "running" ? RUNNING_MS : IDLE_MS;
}

/** How work goes that takes as long as there is stored, and what came of it. */
export function JobState({
  job: { status, started_at, ended_at, files_so_far, error },
  children,
}: {
  readonly job: Omit<Job, "result">;
  readonly children: ComponentChildren;
}) {
  if (status === "idle") return <p class="text-sm text-soft">Not done since the start of the service.</p>;
  const tookMs = started_at === null || ended_at === null ? undefined : (ended_at - started_at) * 1_000;
  return (
    <div class="flex min-w-0 flex-col gap-3">
      <p class="flex flex-wrap items-center gap-x-2 text-sm">
        <span role="status">
          <Status word={status} tone={TONES[status] ?? "idle"} />
        </span>
        <span class="text-soft">
          begun <Time at={started_at} />
          {tookMs !== undefined && `, took ${tookMs < 1_000 ? "less than a second" : durationText(tookMs)}`}
          {status === "running" && files_so_far !== null && `, ${counted(files_so_far, "file")} so far`}
        </span>
      </p>
      {error !== null && <p class="break-words text-bad">{error}</p>}
      {children}
    </div>
  );
}
