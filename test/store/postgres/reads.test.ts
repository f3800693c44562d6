import { afterAll, describe } from "bun:test";
import { describeSearch } from "../../contracts/search-store.ts";
import { describeChanges } from "../../contracts/task-store-changes.ts";
import { describeFamilies } from "../../contracts/task-store-family.ts";
import { describeLanes } from "../../contracts/task-store-lanes.ts";
import { describeLists } from "../../contracts/task-store-lists.ts";
import { describeManagedTasks } from "../../contracts/task-store-managed.ts";
import { describeReads } from "../../contracts/task-store-reads.ts";
import { describeRows } from "../../contracts/task-store-rows.ts";
import { describeStory } from "../../contracts/task-store-story.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import type { MakeStore, StoreUnderTest } from "../../helpers/store.ts";

const open: MakeStore = async () => (await openEmptyPostgres()) as unknown as StoreUnderTest;

describe.skipIf(!CAN_TEST_POSTGRES)("reads of tasks in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeReads(open);
  describeLists(open);
  describeManagedTasks(open);
  describeFamilies(open);
  describeStory(open);
  describeChanges(open);
  describeLanes(open);
  describeRows(open);
  describeSearch("prompts in PostgreSQL", open);
  describeUsage("usage in PostgreSQL", open);
});
