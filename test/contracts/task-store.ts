import { describe } from "bun:test";
import type { MakeStore } from "../helpers/store.ts";
import { describeAdmission } from "./task-store-admit.ts";
import { describeAdvance } from "./task-store-advance.ts";
import { describeCancel } from "./task-store-cancel.ts";
import { describeChanges } from "./task-store-changes.ts";
import { describeClaim } from "./task-store-claim.ts";
import { describeFamilies } from "./task-store-family.ts";
import { describeHasten } from "./task-store-hasten.ts";
import { describeLanes } from "./task-store-lanes.ts";
import { describeLists } from "./task-store-lists.ts";
import { describeLostAttempts } from "./task-store-lost.ts";
import { describeManagedTasks } from "./task-store-managed.ts";
import { describeMoney } from "./task-store-money.ts";
import { describeNudge } from "./task-store-nudge.ts";
import { describePostpone } from "./task-store-postpone.ts";
import { describeQuotas } from "./task-store-quota.ts";
import { describeReads } from "./task-store-reads.ts";
import { describeRows } from "./task-store-rows.ts";
import { describeStory } from "./task-store-story.ts";

/** What every implementation of `TaskStore` does. `makeStore` gives an empty store each time. */
export function describeTaskStore(name: string, makeStore: MakeStore): void {
  describe(name, () => {
    describeAdmission(makeStore);
    describeClaim(makeStore);
    describeRows(makeStore);
    describeAdvance(makeStore);
    describeCancel(makeStore);
    describeNudge(makeStore);
    describePostpone(makeStore);
    describeHasten(makeStore);
    describeMoney(makeStore);
    describeQuotas(makeStore);
    describeReads(makeStore);
    describeLists(makeStore);
    describeChanges(makeStore);
    describeLanes(makeStore);
    describeLostAttempts(makeStore);
    describeStory(makeStore);
    describeFamilies(makeStore);
    describeManagedTasks(makeStore);
  });
}
