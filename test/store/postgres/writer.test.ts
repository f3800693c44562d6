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
  const driver: Driver = {
    ask,
    aside: { ask },
    begin,
    listen: async () => {},
    listenAnew: async () => {},
    renew: () => {},
    close: async () => {},
  };
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
  {
    status: "aborted",
    timeline: "2",
    runs: 2,
    what: "a server that took over has undone, and is written again",
  },
  {
    status: "in progress",
    timeline: "2",
    runs: 2,
    what: "has another's number at a server that took over, and is written again",
  },
] as const;

/** A server that loses the answer of the first commit, and then says this of it. */
function losingAnswers(status: string | undefined, timeline = "1") {
  return scripted(
    (text) => {
      if (text.includes("pg_current_xact_id")) return { rows: [{ xid: "7", timeline: "1" }], count: 1 };
      if (!text.includes("pg_xact_status")) return none;
      if (status === undefined)
        throw Object.assign(new Error("transaction ID 7 is in the future"), {
          code: "22023",
          severity: "ERROR",
        });
      return { rows: [{ status, timeline }], count: 1 };
    },
    (transaction) => {
      if (transaction === 1) throw away();
    },
  );
}

for (const { status, runs, what, ...at } of COMMITS)
  test(`a commit whose answer was lost ${what}`, async () => {
    const { driver } = losingAnswers(status, "timeline" in at ? at.timeline : "1");
    let count = 0;
    await createWriter(driver, {}).write(async () => {
      count += 1;
    });
    expect(count).toBe(runs);
  });

test("a commit whose number a server that took over has given again is not told as stored, and only what is owed is written again", async () => {
  const { driver } = losingAnswers("committed", "2");
  const runs = { create: 0, owed: 0 };
  const writer = createWriter(driver, {});
  const create = writer.writeFor(OF, async () => {
    runs.create += 1;
  });
  const owed = writer.writeFor(
    OF,
    async () => {
      runs.owed += 1;
    },
    { isOwed: true },
  );
  expect(await create.catch((error: unknown) => error)).toMatchObject({ kind: "away" });
  await owed;
  expect(runs).toEqual({ create: 1, owed: 2 });
});

test("a commit whose answer was lost is asked about until the server says what became of it", async () => {
  const { driver } = losingAnswers("committed");
  let [runs, refusals] = [0, 0];
  const ask: Driver["ask"] = (text, parameters) =>
    text.includes("pg_xact_status") && refusals++ < 2
      ? Promise.reject(Object.assign(new Error("It lacks a right."), { code: "42501", severity: "ERROR" }))
      : driver.ask(text, parameters);
  await createWriter({ ...driver, ask }, {}).write(async () => {
    runs += 1;
  });
  expect([runs, refusals]).toEqual([1, 3]);
});

test("a commit whose answer was lost is told once a later one is answered, which a standby then has", async () => {
  const { driver, ends } = losingAnswers("committed");
  const asked: string[] = [];
  const watched: Driver = {
    ...driver,
    async begin() {
      const transaction = await driver.begin();
      const ask = (text: string) => {
        asked.push(text);
        return transaction.ask(text, []);
      };
      return { ...transaction, ask };
    },
  };
  await createWriter(watched, {}).write(async () => {});
  expect(ends).toEqual(["commit", "commit"]);
  expect(asked.at(-1)).toContain("pg_logical_emit_message");
});

/** Why writes are refused. */
const reasons = (writes: readonly Promise<unknown>[]) =>
  Promise.all(
    writes.map((write) =>
      write.then(
        () => "written",
        ({ kind }: StorageError) => kind,
      ),
    ),
  );

test("a create is refused after its time, and not written later, where writes that are owed wait on", async () => {
  const written: string[] = [];
  let isAway = true;
  const { driver } = scripted(() => none);
  const begin: Driver["begin"] = () => (isAway ? Promise.reject(away()) : driver.begin());
  const writer = createWriter({ ...driver, begin }, { patienceMs: 50 });
  const write = (what: string, isOwed: boolean) =>
    writer.writeFor(OF, async () => void written.push(what), { isOwed });
  const owed = write("owed", true);
  const beside = write("beside", false);
  await Bun.sleep(10);
  const [behind, later] = [write("behind", false), write("later", true)];
  expect(await reasons([beside, behind])).toEqual(["away", "away"]);
  isAway = false;
  await Promise.all([owed, later]);
  expect(written).toEqual(["owed", "later"]);
});

test("a create that waits for others whose end is not known is refused after its time, and not written later", async () => {
  let [hasLost, isAway] = [false, false];
  const written: string[] = [];
  const { driver } = scripted((text) => {
    if (isAway) throw away();
    if (text.includes("pg_current_xact_id")) return { rows: [{ xid: "7", timeline: "1" }], count: 1 };
    return text.includes("pg_xact_status")
      ? { rows: [{ status: "committed", timeline: "1" }], count: 1 }
      : none;
  });
  const losing: Driver = {
    ...driver,
    async begin() {
      const transaction = await driver.begin();
      const commit = async () => {
        if (hasLost) return transaction.commit();
        [hasLost, isAway] = [true, true];
        throw away();
      };
      return { ...transaction, commit };
    },
  };
  const writer = createWriter(losing, { patienceMs: 50, most: 1 });
  const write = (of: string, what: string, isOwed = false) =>
    writer.writeFor(of as AccountId, async () => void written.push(what), { isOwed });
  const lost = write("acc_1", "lost");
  while (!isAway) await Bun.sleep(1);
  const refused = [write("acc_1", "behind"), write("acc_2", "beside")];
  const owed = write("acc_3", "owed", true);
  expect(await reasons(refused)).toEqual(["away", "away"]);
  expect(writer.trouble()).toMatchObject({ kind: "away" });
  isAway = false;
  await Promise.all([lost, owed]);
  expect(written).toEqual(["lost", "owed"]);
});
