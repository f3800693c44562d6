import { afterAll, describe } from "bun:test";
import { describeTaskStore } from "../../contracts/task-store.ts";
import { openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeTaskStore("tasks in PostgreSQL", () => openEmptyPostgres());
});
