import { isTrue, type Row, textOf } from "../fields.ts";
import type { HeldAccount } from "../holdings.ts";
import { nameOf } from "../names.ts";
import { quotaOf } from "./budgets.ts";

export const teamOrigin = (id: string) => `team ${id}`;
export const userOrigin = (id: string) => `user ${id}`;

/** A team, or a user whose keys are in none, as an account. */
export function moveOwner(origin: string, id: string, row: Row | undefined): HeldAccount {
  const name = nameOf(
    row?.team_alias,
    nameOf(row?.user_alias, nameOf(row?.user_email, nameOf(id, "litellm"))),
  );
  const quota = row === undefined ? undefined : quotaOf(row);
  const isTotal = typeof quota === "object" && quota.reset === "total" && quota.note === undefined;
  const notes: string[] = [];
  if (quota === "unreadable") notes.push("its budget is no amount, and does not come");
  else if (quota !== undefined && !isTotal)
    notes.push(
      `its budget for each ${textOf(row?.budget_duration)} does not come: here keys have quotas that begin anew`,
    );
  return {
    ...{ origin, name, notes },
    ...(isTotal ? { credit: quota.limit } : {}),
    ...(isTrue(row?.blocked) ? { isSuspended: true } : {}),
  };
}
