import { expect, test } from "bun:test";
import type { Client, Pool, Transaction } from "../../../src/store/postgres/client.ts";
import { NONCE } from "../../../src/store/postgres/echo.ts";
import { proving } from "../../../src/store/postgres/proving.ts";
import type { Answer, Parameter } from "../../../src/store/postgres/session.ts";

const SOURCES = `${import.meta.dir}/../../../src/store/postgres`;
const NONE: Answer = { rows: [], count: 0 };
/** What a server answers: one row, with the last parameter as it came. */
const echoed = (parameters: readonly Parameter[]): Answer => ({
  rows: [{ [NONCE]: parameters.at(-1), name: "ours" }],
  count: 1,
});

interface Asked {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}
type Answering = (asked: Asked) => Answer;

/** A client that answers as told, and what was asked of it. */
function scripted(answer: Answering) {
  const asked: string[] = [];
  const ask = async (text: string, parameters: readonly Parameter[]) => {
    asked.push(text);
    return answer({ text, parameters });
  };
  const end = (word: string) => async () => void asked.push(word);
  const begin = async (): Promise<Transaction> => {
    asked.push("begin");
    return { ask, commit: end("commit"), rollback: end("rollback") };
  };
  const pool: Pool = { ask, begin };
  const client: Pick<Client, "main" | "aside"> = { main: pool, aside: pool };
  return { client, asked };
}

class Misrouted extends Error {}
const misrouted = (text: string): never => {
  throw new Misrouted(text);
};
const FENCE = `select $1::int4 as ${NONCE}`;

test("rows are answered as the server has them, without the number that they echo", async () => {
  const { client } = scripted(({ parameters }) => echoed(parameters));
  const answer = await proving(client, misrouted).ask("select name from a where b = $1", ["c"]);
  expect(answer).toEqual({ rows: [{ name: "ours" }], count: 1 });
});

test("rows of another statement are answered to nobody", async () => {
  let first: Answer | undefined;
  // As a client that is one answer behind: each statement gets the answer to the one before.
  const { client } = scripted(({ parameters }) => {
    const before = first ?? echoed(parameters);
    first = echoed(parameters);
    return before;
  });
  const proven = proving(client, misrouted);
  await proven.ask("select name from a", []);
  await expect(proven.ask("select name from a", [])).rejects.toThrow(Misrouted);
  await expect(proven.aside.ask("select name from b", [])).rejects.toThrow(Misrouted);
});

test("one wrong row among right ones is noticed", async () => {
  const { client } = scripted(({ parameters }) => ({
    rows: [...echoed(parameters).rows, { [NONCE]: 1, name: "theirs" }],
    count: 2,
  }));
  await expect(proving(client, misrouted).ask("select name from a", [])).rejects.toThrow(Misrouted);
});

test("rows without a number, as of a statement that was prepared under the same name, are noticed", async () => {
  const { client } = scripted(() => ({ rows: [{ name: "theirs" }], count: 1 }));
  await expect(proving(client, misrouted).ask("select name from a", [])).rejects.toThrow(Misrouted);
});

test("a transaction is committed once a later answer has proven that there were no rows", async () => {
  const { client, asked } = scripted(({ text, parameters }) => (text === FENCE ? echoed(parameters) : NONE));
  const transaction = await proving(client, misrouted).begin();
  await transaction.ask("update a set b = 1", []);
  await transaction.commit();
  expect(asked.slice(2)).toEqual([FENCE, "commit"]);
});

test("a transaction that ends with a row is committed at once", async () => {
  const { client, asked } = scripted(({ text, parameters }) =>
    text.startsWith("delete") ? NONE : echoed(parameters),
  );
  const transaction = await proving(client, misrouted).begin();
  await transaction.ask("delete from a", []);
  await transaction.ask("update a set b = 1", []);
  await transaction.commit();
  expect(asked).not.toContain(FENCE);
});

test("a transaction is not committed where there are rows for another statement in place of none", async () => {
  let behind: Answer = NONE;
  const { client, asked } = scripted(({ parameters }) => {
    const before = behind;
    behind = echoed(parameters);
    return before;
  });
  const transaction = await proving(client, misrouted).begin();
  await transaction.ask("select id from idempotency", []);
  await expect(transaction.commit()).rejects.toThrow(Misrouted);
  expect(asked).not.toContain("commit");
  expect(asked.at(-1)).toBe("rollback");
});

test("a read without rows is asked again beside a proof, and a change is not", async () => {
  const { client, asked } = scripted(({ text, parameters }) => (text === FENCE ? echoed(parameters) : NONE));
  const proven = proving(client, misrouted);
  expect(await proven.ask("select name from a", [])).toEqual(NONE);
  expect(asked).toEqual([asked[0]!, "begin", asked[0]!, FENCE, "rollback"]);
  asked.length = 0;
  await proven.ask("delete from a", []);
  expect(asked).toHaveLength(1);
});

test("a process whose client gives a statement the rows of another ends, says so, and answers nothing", () => {
  const program = `
    const { endProcess } = await import("${SOURCES}/driver.ts");
    const { proving } = await import("${SOURCES}/proving.ts");
    const ask = async (text, parameters) => ({ rows: [{ svc_nonce: parameters.at(-1) - 1, name: "theirs" }], count: 1 });
    const proven = proving({ main: { ask }, aside: { ask } }, endProcess);
    setTimeout(() => console.log("later"), 0);
    proven.ask("select name from a", []).finally(() => console.log("answered"));
    await new Promise(() => {});`;
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(exitCode).toBe(1);
  expect(stdout.toString()).toBe("");
  expect(stderr.toString()).toStartWith("svc: the database client gave a statement the rows of another one.");
});
