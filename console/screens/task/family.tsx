import { ask } from "../../api/ask.ts";
import type { Role } from "../../api/session.ts";
import { useReading } from "../../api/use.ts";
import { Preview } from "../../parts/preview.tsx";
import { Status } from "../../parts/status.tsx";
import { hrefOf } from "../../shell/router.ts";
import { inBranches, type Member } from "./branches.ts";
import type { Trace } from "./read.ts";

interface Props {
  readonly role: Role;
  readonly task: Trace["task"];
  /** Where a member is shown. */
  readonly hrefFor: (taskId: string) => string;
}

/** What a task was made from by retry, variation and the like, and what was made from it. Nothing where it stands alone. */
export function Family({ role, task, hrefFor }: Props) {
  // What is made from it meanwhile appears with the end of the task.
  const { data } = useReading(`${task.task_id} ${task.status} family`, (signal) =>
    readFamily(role, task.task_id, signal),
  );
  const members = inBranches(data?.tasks ?? []);
  if (members.length < 2) return null;
  return (
    <nav aria-label="Family" class="flex flex-col gap-2">
      <h3 class="text-sm font-semibold">Family</h3>
      <ul class="flex flex-col gap-1">
        {members.map(({ member, depth }) => (
          <li key={member.task_id} class={INDENTS[Math.min(depth, INDENTS.length - 1)]}>
            <Branch member={member} isThis={member.task_id === task.task_id} href={hrefFor(member.task_id)} />
          </li>
        ))}
      </ul>
      {data?.next != null && <p class="text-sm text-soft">The oldest {members.length} of them.</p>}
    </nav>
  );
}

function readFamily(role: Role, id: string, signal: AbortSignal) {
  return role === "operator"
    ? ask("GET /admin/v1/tasks/{id}/tree", { path: { id }, query: {} }, { signal })
    : ask("GET /v1/tasks/{task_id}/tree", { path: { task_id: id }, query: {} }, { signal });
}

const INDENTS = ["", "pl-4", "pl-8", "pl-12", "pl-16"] as const;

interface BranchProps {
  readonly member: Member;
  readonly isThis: boolean;
  readonly href: string;
}

function Branch({ member, isThis, href }: BranchProps) {
  const { relation, deleted, kind, status, result, model } = member;
  const look = `flex min-h-11 min-w-0 items-center gap-2 rounded-md border p-1 pr-2 text-sm ${isThis ? "border-accent" : "border-line"}`;
  const what = (
    <>
      <span class="size-9 shrink-0 overflow-hidden rounded bg-sunk">
        {result?.[0] !== undefined && (
          <Preview
            url={result[0]}
            isVideo={kind === "video"}
            width={64}
            alt=""
            look="size-full object-cover"
          />
        )}
      </span>
      <span class="min-w-0 grow truncate">{relation ?? "the first"}</span>
      {deleted ? (
        <span class="text-soft">deleted</span>
      ) : status === "completed" ? (
        <span class="truncate text-soft">{model}</span>
      ) : (
        status !== undefined && <Status word={status} />
      )}
    </>
  );
  if (deleted) return <span class={look}>{what}</span>;
  return (
    <a href={href} class={`${look} hover:border-edge`} aria-current={isThis ? "true" : undefined}>
      {what}
    </a>
  );
}

/** The screen of a member. */
export const taskHref = (id: string): string => hrefOf("tasks", id);
