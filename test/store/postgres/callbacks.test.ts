import { afterAll, describe } from "bun:test";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const open = () => openEmptyPostgres();

describe.skipIf(!CAN_TEST_POSTGRES)("callbacks in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeCallbackStore("callbacks in PostgreSQL", open);
});
