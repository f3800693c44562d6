import { describe, expect, test } from "bun:test";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

/** Transactions, every kind of column, notifications, two nodes at once, and a thousand writes at once. */
const FILES = ["driver", "contracts", "change-watch", "tasks-of-nodes", "callbacks"];

describe.skipIf(!CAN_TEST_POSTGRES)("with node-postgres", () => {
  test("the store does the same", async () => {
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        "--timeout=120000",
        ...FILES.map((name) => `./test/store/postgres/${name}.test.ts`),
      ],
      { stdout: "ignore", stderr: "pipe", env: { ...process.env, SVC_TEST_POSTGRES_CLIENT: "pg" } },
    );
    const said = await child.stderr.text();
    expect(await child.exited, said).toBe(0);
    expect(said).not.toContain("DeprecationWarning");
  }, 240_000);
});
