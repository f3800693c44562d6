import { toldOutcome, toldTimes } from "../../domain/callback/callback-payload.ts";
import { signatureHeaders } from "../../domain/callback/signature.ts";
import type { JsonObject } from "../../domain/json.ts";
import { CURRENCY, formatAmount, sumMicros, ZERO } from "../../domain/money/money.ts";
import type { CallbackForm, ToldEvent } from "../../domain/ports/callback-forms.ts";
import type { Secrets } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import { groupIdOf, groupStatus, winnerOf } from "../../domain/task/group.ts";
import { readMembers } from "../../service/read-group.ts";
import { sheetAddress } from "./present.ts";

export interface GroupFormDeps {
  readonly tasks: Pick<TaskStore, "summary">;
  readonly secrets: Pick<Secrets, "sign">;
}

/** The callback of a group's end (docs/api.md 4.14). It is signed and tried again as the default form is. */
export function createGroupForm(deps: GroupFormDeps): CallbackForm {
  return {
    isSignedByKey: true,
    body: async (told) => JSON.stringify(await bodyOf(deps, told)),
    headers: ({ kept, ...send }) => (kept === undefined ? {} : signatureHeaders(deps.secrets, kept, send)),
  };
}

async function bodyOf(deps: GroupFormDeps, { task, at, origin }: ToldEvent): Promise<JsonObject> {
  const { group } = task.request;
  const [first] = group?.tasks ?? [];
  if (group === undefined || first === undefined) throw new Error(`Task ${task.id} is of no group`);
  const members = await readMembers(deps, group);
  const cost = sumMicros(members.map((member) => member.task?.charged ?? ZERO));
  const id = groupIdOf(first);
  const sheet = sheetAddress({ id, members }, origin);
  const winner = winnerOf(group.policy, members);
  return {
    group_id: id,
    request_id: task.requestId,
    status: groupStatus(members),
    policy: group.policy,
    ...(winner !== undefined && { winner }),
    ...(sheet !== undefined && { contact_sheet: sheet }),
    usage: { cost: formatAmount(cost), currency: CURRENCY },
    tasks: members.flatMap((member) => (member.task === undefined ? [] : [toldMember(member.task, origin)])),
    ...toldTimes({ createdAt: task.createdAt, completedAt: at }),
  };
}

function toldMember(...[task, origin]: Parameters<typeof toldOutcome>): JsonObject {
  const { task_id, ...outcome } = toldOutcome(task, origin);
  const given = Object.entries(outcome).filter(([, value]) => value !== undefined);
  return { task_id, model: task.model, ...Object.fromEntries(given) };
}
