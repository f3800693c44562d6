import { afterAll, describe } from "bun:test";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";

const open = () => openEmptyPostgres();

describe.skipIf(!CAN_TEST_POSTGRES)("callbacks in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeCallbackStore("callbacks in PostgreSQL", open);
});
