import type { Micros } from "../../domain/money/money.ts";
import { flagIn, type Row, textOf, UnreadableValue } from "../fields.ts";
import type { HeldAccount } from "../holdings.ts";
import { nameOf } from "../names.ts";
import { quotaOf } from "./budgets.ts";
import { isAccounts } from "./limiters.ts";

export const teamOrigin = (id: string) => `team ${id}`;
export const userOrigin = (id: string) => `user ${id}`;

const NONE = 0 as Micros;

/** A team, or a user whose keys are in none, as an account. */
export function moveOwner(origin: string, id: string, row: Row | undefined): HeldAccount {
  const name = nameOf(
    row?.team_alias,
    nameOf(row?.user_alias, nameOf(row?.user_email, nameOf(id, "litellm"))),
  );
  if (row === undefined) {
    const notes = ["nothing more is known of it: it has no budget here"];
    return { origin, name, notes };
  }
  const quota = quotaOf(row);
  const isTotal = typeof quota === "object" && isAccounts("team", quota);
  const notes: string[] = [];
  if (quota === "unreadable") notes.push("its budget is no amount: it has no credit");
  else if (quota !== undefined && !isTotal)
    notes.push(`its budget for each ${textOf(row.budget_duration)} is a quota of each of its keys`);
  const blocked = blockedIn(row);
  if (blocked === "unreadable") notes.push("its blocked is no truth value that can be read: it is suspended");
  return {
    ...{ origin, name, notes },
    ...(quota === "unreadable" ? { credit: NONE } : isTotal ? { credit: quota.limit } : {}),
    ...(blocked === false ? {} : { isSuspended: true }),
  };
}

function blockedIn(row: Row): boolean | "unreadable" {
  try {
    return flagIn(row, "blocked");
  } catch (error) {
    if (error instanceof UnreadableValue) return "unreadable";
    throw error;
  }
}
