import { durationText } from "../../parts/duration.ts";
import { Preview } from "../../parts/preview.tsx";
import { Status } from "../../parts/status.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ListedTask } from "./list.ts";

/** The way to a task. `j` and `k` go from one to the next. */
export function TaskLink({ task: { task_id, kind } }: { readonly task: ListedTask }) {
  return (
    <a
      data-row
      href={hrefOf("tasks", task_id)}
      class="font-mono text-[0.8125rem] whitespace-nowrap text-accent underline-offset-2 hover:underline"
      aria-label={`…${task_id.slice(-8)}, ${kind}`}
    >
      …{task_id.slice(-8)}
    </a>
  );
}

/** What was made is told from its neighbours by its look. The link beside it leads to it, so it has no name of its own. */
export function Thumbnail({
  task: { kind, result: [first] = [], files_removed_at },
}: {
  readonly task: ListedTask;
}) {
  const look = "block size-9 rounded bg-sunk object-cover";
  if (first === undefined || files_removed_at !== undefined) return <span class={look} />;
  return <Preview url={first} isVideo={kind === "video"} width={64} alt="" look={look} />;
}

/** Its status, and how far it is or why it failed. */
export function StatusOf({
  task: { status, progress, queue_position, error_code },
}: {
  readonly task: ListedTask;
}) {
  const more =
    status === "processing" && progress !== undefined
      ? `${progress} %`
      : status === "pending" && queue_position !== undefined
        ? `${queue_position} before it`
        : status === "failed"
          ? error_code?.toLowerCase().replaceAll("_", " ")
          : undefined;
  if (more === undefined) return <Status word={status} />;
  return (
    <span class="flex flex-col">
      <Status word={status} />
      <span class="truncate text-xs text-soft" title={more}>
        {more}
      </span>
    </span>
  );
}

/** How long it took, in whole seconds, which is all that lists have; nothing of one that has not ended. */
export function tookText({ created_at, completed_at = created_at - 1 }: ListedTask): string {
  if (completed_at < created_at) return "";
  return completed_at === created_at ? "< 1 s" : durationText((completed_at - created_at) * 1_000);
}
