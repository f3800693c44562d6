import type { JsonObject } from "../../domain/json.ts";
import { assetPath } from "../../domain/media/asset.ts";
import { CURRENCY, formatAmount, sumMicros, ZERO } from "../../domain/money/money.ts";
import { groupStatus, winnerOf } from "../../domain/task/group.ts";
import type { GroupReading } from "../../service/read-group.ts";
import { presentListedTask } from "../tasks/present.ts";

/** A group as it stands, with its tasks as lists have them (docs/api.md 4.14). */
export function presentGroup(group: GroupReading, origin: string): JsonObject {
  return {
    ...presentStanding(group, origin),
    tasks: group.members.map(({ id, task }) => ({
      task_id: id,
      task: task === undefined ? null : presentListedTask(task, origin),
    })),
  };
}

/** A group as an entry of a list. */
export function presentListedGroup(group: GroupReading, origin: string): JsonObject {
  return { ...presentStanding(group, origin), task_ids: group.members.map(({ id }) => id) };
}

function presentStanding(group: GroupReading, origin: string): JsonObject {
  const { id, policy, members, createdAt, cancelAt } = group;
  const cost = sumMicros(members.map(({ task }) => task?.charged ?? ZERO));
  return {
    group_id: id,
    status: groupStatus(members),
    policy,
    winner: winnerOf(policy, members) ?? null,
    created_at: Math.floor(createdAt / 1000),
    deadline_at: cancelAt === undefined ? null : Math.floor(cancelAt / 1000),
    contact_sheet: sheetAddress(group, origin) ?? null,
    usage: { cost: formatAmount(cost), currency: CURRENCY },
  };
}

/** Where the contact sheet of a group is: at one of its results, once it has ended. */
export function sheetAddress(
  { id, members }: Pick<GroupReading, "id" | "members">,
  origin: string,
): string | undefined {
  const [result] = members.flatMap(({ task }) => task?.results ?? []);
  if (result === undefined || groupStatus(members) === "processing") return undefined;
  return `${origin}${assetPath({ id: result.assetId, type: result.type })}?group=${id}`;
}
