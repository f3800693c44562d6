import { afterAll, describe } from "bun:test";
import { describeBookSums } from "../../contracts/book-sums.ts";
import { describeRetentionStore } from "../../contracts/retention-store.ts";
import { openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const open = () => openEmptyPostgres();

describe.skipIf(!CAN_TEST_POSTGRES)("retention in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeRetentionStore("what goes from PostgreSQL", open);
  describeBookSums("sums of the books in PostgreSQL", open);
});
