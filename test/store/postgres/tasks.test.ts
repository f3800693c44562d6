import { afterAll, describe } from "bun:test";
import { describeAdmission } from "../../contracts/task-store-admit.ts";
import { describeAdvance } from "../../contracts/task-store-advance.ts";
import { describeCancel } from "../../contracts/task-store-cancel.ts";
import { describeChanges } from "../../contracts/task-store-changes.ts";
import { describeClaim } from "../../contracts/task-store-claim.ts";
import { describeLanes } from "../../contracts/task-store-lanes.ts";
import { describeLostAttempts } from "../../contracts/task-store-lost.ts";
import { describeMoney } from "../../contracts/task-store-money.ts";
import { describeNudge } from "../../contracts/task-store-nudge.ts";
import { describeQuotas } from "../../contracts/task-store-quota.ts";
import { describeRows } from "../../contracts/task-store-rows.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import type { MakeStore } from "../../helpers/store.ts";

// Some of its ports are not there yet.
const open = (async () => await openEmptyPostgres()) as unknown as MakeStore;

describe.skipIf(!CAN_TEST_POSTGRES)("writes of tasks in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeAdmission(open);
  describeClaim(open);
  describeRows(open);
  describeAdvance(open);
  describeCancel(open);
  describeNudge(open);
  describeMoney(open);
  describeQuotas(open);
  describeChanges(open);
  describeLanes(open);
  describeLostAttempts(open);
});
