import { afterAll, describe, expect, test } from "bun:test";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import type { Answer, Session } from "../../../src/store/postgres/session.ts";
import { story } from "../../../src/store/postgres/task-store/story.ts";
import { openEmptyPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, addAccount, admit, taskId } from "../../helpers/store.ts";

/** A session that notes how many rows each answer of another one has, in the order in which it answers. */
function counting(session: Session, rows: number[]): Session {
  return {
    async ask(text, parameters): Promise<Answer> {
      const answer = await session.ask(text, parameters);
      rows.push(answer.rows.length);
      return answer;
    },
  };
}

describe.skipIf(!CAN_TEST_POSTGRES)("a task's status", () => {
  afterAll(stopPostgres);

  test("ends with an answer that has a row, and needs no other one to prove it", async () => {
    const store = await openEmptyPostgres();
    await addAccount(store, { id: ACCOUNT });
    await admit(store, { number: 1 });
    await store.stop();
    const connection = openConnection({ url: await urlOfPostgres() });
    const rows: number[] = [];
    const told = await connection.readAtOnce((session) => story(counting(session, rows), taskId(1)));
    await connection.stop();
    expect(told?.task.id).toBe(taskId(1));
    // The task, no attempt, no callback, and the names.
    expect(rows).toEqual([1, 0, 0, 1]);
  });
});
