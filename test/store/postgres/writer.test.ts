import { expect, test } from "bun:test";
import type { AccountId } from "../../../src/domain/ids.ts";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import type { Driver } from "../../../src/store/postgres/driver.ts";
import type { ProvenTransaction } from "../../../src/store/postgres/proving.ts";
import type { Answer } from "../../../src/store/postgres/session.ts";
import { createWriter } from "../../../src/store/postgres/writer.ts";

const OF = "acc_1" as AccountId;
const none: Answer = { rows: [], count: 0 };
const away = () => new StorageError("away", "The database server is away.");

/** A driver that answers each statement as told, and what its transactions came to. */
function scripted(answer: (text: string, transaction: number) => Answer, commit = (_: number) => {}) {
  const ends: string[] = [];
  let begun = 0;
  const ask = async (text: string) => answer(text, begun);
  const begin = async (): Promise<ProvenTransaction> => {
    begun += 1;
    const number = begun;
    return {
      ask,
      prove: async () => {},
      async commit() {
        ends.push("commit");
        commit(number);
      },
      async rollback() {
        ends.push("rollback");
      },
    };
  };
  const driver: Driver = { ask, aside: { ask }, begin, listen: async () => {}, close: async () => {} };
  return { driver, ends };
}

test("a write whose account cannot be held yet is tried again, whatever its own statements were told", async () => {
  const { driver, ends } = scripted((text, transaction) => {
    if (transaction > 1) return none;
    if (text.includes("for no key update")) throw new StorageError("busy", "The database is busy.");
    if (text === "mine") throw new Error("current transaction is aborted");
    return none;
  });
  const writer = createWriter(driver, {});
  const write = writer.writeFor(OF, async (session) => (await session.ask("mine", [])).count);
  expect(await write).toBe(0);
  expect(ends).toEqual(["rollback", "commit"]);
});

const COMMITS = [
  { status: "committed", runs: 1, what: "is stored" },
  { status: "aborted", runs: 2, what: "was undone, and is written again" },
  { status: undefined, runs: 2, what: "a server that took over knows nothing of, and is written again" },
];
for (const { status, runs, what } of COMMITS)
  test(`a commit whose answer was lost ${what}`, async () => {
    const { driver } = scripted(
      (text) => {
        if (text.includes("pg_current_xact_id")) return { rows: [{ xid: "7" }], count: 1 };
        if (!text.includes("pg_xact_status")) return none;
        if (status === undefined) throw new Error("transaction ID 7 is in the future");
        return { rows: [{ status }], count: 1 };
      },
      (transaction) => {
        if (transaction === 1) throw away();
      },
    );
    let count = 0;
    await createWriter(driver, {}).write(async () => {
      count += 1;
    });
    expect(count).toBe(runs);
  });
