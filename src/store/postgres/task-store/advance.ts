import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { AttemptIntent } from "../../../domain/ports/claims.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { assertLegalMove, type Lease } from "../../../domain/task/task.ts";
import { startedCallback, type Transition } from "../../../domain/task/transition.ts";
import { BEGIN } from "../../sqlite/task-store/advance.ts";
import { named } from "../../sqlite/task-store/task-table.ts";
import { insertCallback } from "../callback-store/insert.ts";
import type { Connection } from "../connection.ts";
import { prepareGathered } from "../gathered.ts";
import { asRows, given } from "../given-rows.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { type Session, statement } from "../session.ts";
import { insertAttempts } from "./attempts.ts";
import {
  type Change,
  type PreparedTransition,
  prepareTransition,
  type StandingRow,
  writeChanges,
} from "./transition-rows.ts";

const STANDINGS = statement<StandingRow, [ids: readonly TaskId[]]>(
  `select id, ${named("account_id", "key_id", "model")}, stage, lease_token, due_at, failures, cancel_requested,
     quota_period, progress from task where id = any($1::text[]) order by number for no key update`,
);
const BEGUN = statement<{ id: TaskId; attempts: number }, [rows: string]>(
  `update task set stage = '${BEGIN.to}', status = 'processing', attempts = attempts + 1,
     started_at = coalesce(started_at, at), deadline_at = coalesce(deadline_at, deadline),
     change = changed_as
   from (select *, nextval('task_change_number') as changed_as
     from ${given("$1", { task_id: "text", token: "text", at: "bigint", deadline: "bigint" })}) as given
   where id = task_id and lease_token = token and stage = '${BEGIN.from}' and cancel_requested = 0
   returning id, attempts`,
);
const RENEW = statement<never, [until: number, id: string, token: string]>(
  "update task set due_at = $1 where id = $2 and lease_token = $3",
);

interface Beginning {
  readonly lease: Lease;
  readonly intent: AttemptIntent;
}

interface Applying {
  readonly lease: Lease;
  readonly prepared: PreparedTransition;
}

/** Reads tasks as they stand, and keeps others from changing them until the transaction ends. */
export async function standingsOf(
  session: Session,
  ids: readonly TaskId[],
): Promise<ReadonlyMap<TaskId, StandingRow>> {
  const rows = await STANDINGS.all(session, ids);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Advances tasks. Transitions of one account that wait together are written together: its row and its quotas once for all of them. */
export function prepareAdvance(
  connection: Connection,
  parts: { readonly labels: Labels; readonly ledger: Ledger },
): Pick<TaskStore, "begin" | "renew" | "apply"> {
  assertLegalMove(BEGIN.from, BEGIN.to);
  const begin = prepareGathered(connection, {
    prepare: async (beginning: Beginning) => beginning,
    run: beginTogether,
  });
  const apply = prepareGathered(connection, {
    isOwed: true,
    prepare: async ({ lease, transition }: { lease: Lease; transition: Transition }): Promise<Applying> => ({
      lease,
      prepared: await prepareTransition(parts, lease.task.id, transition),
    }),
    run: (session, of, all) => applyTogether(session, parts.ledger, { of, all }),
  });
  return {
    begin: (lease, intent) => begin(lease.task.accountId, { lease, intent }),
    renew: (lease, until) =>
      connection.write(async (session) =>
        (await RENEW.run(session, until, lease.task.id, lease.token)) === 1 ? "renewed" : "lease_lost",
      ),
    apply: (lease, transition) => apply(lease.task.accountId, { lease, transition }),
  };
}

async function beginTogether(session: Session, _: AccountId, all: readonly Beginning[]) {
  const rows = all.map(({ lease, intent }) => ({
    ...{ task_id: lease.task.id, token: lease.token, at: intent.at, deadline: intent.deadlineAt },
  }));
  const begun = new Map((await BEGUN.all(session, asRows(rows))).map((row) => [row.id, row.attempts]));
  const left = all.filter(({ lease }) => !begun.has(lease.task.id)).map(({ lease }) => lease.task.id);
  const written = all.flatMap(({ lease, intent }) => {
    const sequence = begun.get(lease.task.id);
    return sequence === undefined ? [] : [{ taskId: lease.task.id, sequence, lease, intent }];
  });
  const [standings] = await Promise.all([
    left.length === 0 ? undefined : standingsOf(session, left),
    insertAttempts(session, written),
    ...written.map(({ lease, sequence, intent }) => {
      const told = sequence === 1 ? startedCallback(lease.task, intent.at, intent.id) : undefined;
      return told && insertCallback(session, told);
    }),
  ]);
  return all.map(({ lease }) => {
    if (begun.has(lease.task.id)) return "begun" as const;
    const standing = standings?.get(lease.task.id);
    const isMine = standing?.lease_token === lease.token && standing.stage === BEGIN.from;
    return isMine ? ("cancel_requested" as const) : ("lease_lost" as const);
  });
}

async function applyTogether(
  session: Session,
  ledger: Ledger,
  { of, all }: { readonly of: AccountId; readonly all: readonly Applying[] },
) {
  const results: ("applied" | "lease_lost")[] = [];
  for (const part of withoutRepeats(all)) {
    const standings = await standingsOf(
      session,
      part.map(({ lease }) => lease.task.id),
    );
    const changes: Change[] = [];
    for (const { lease, prepared } of part) {
      const standing = standings.get(lease.task.id);
      const isHeld = standing?.lease_token === lease.token;
      const isLegal = isHeld && prepared.transition.from.includes(standing.stage);
      if (isLegal) changes.push({ standing, prepared, isCancelKnown: lease.task.cancelRequested });
      results.push(isLegal ? "applied" : "lease_lost");
    }
    await writeChanges(session, ledger, { of, changes });
  }
  return results;
}

/** Parts in their order, none of which has a task twice: the second transition begins where the first one ends. */
function withoutRepeats(all: readonly Applying[]): Applying[][] {
  const parts: Applying[][] = [];
  let tasks = new Set<TaskId>();
  for (const each of all) {
    const { id } = each.lease.task;
    const part = tasks.has(id) ? undefined : parts.at(-1);
    if (part === undefined) {
      parts.push([each]);
      tasks = new Set([id]);
    } else {
      part.push(each);
      tasks.add(id);
    }
  }
  return parts;
}
