import { randomInt } from "node:crypto";
import type { Client, Pool, Transaction, TransactionOptions } from "./client.ts";
import { type Echoing, echoing, NONCE } from "./echo.ts";
import type { Answer, Parameter, Session } from "./session.ts";

/** A transaction whose answers are known to be those of its own statements. */
export interface ProvenTransaction extends Transaction {
  /** Resolves once all answers so far are proven. `commit` does this by itself. */
  prove(): Promise<void>;
}

export interface ProvenClient extends Session {
  readonly aside: Session;
  begin(options?: TransactionOptions): Promise<ProvenTransaction>;
}

/** Called if a statement received rows that do not belong to it. It must end the process, and never returns. */
export type OnMisrouted = (text: string) => never;

/** A statement that requests only an echo. */
const FENCE = "select";
/** Statements are constants, and there are a few hundred of them. */
const MOST_KEPT = 4_000;

/**
 * Has each statement echo a number of its own in each of its rows, so that rows which a client gives to another statement are noticed
 * before anybody sees them.
 *
 * An answer without rows echoes nothing. A connection answers in order, so a later echo proves it: in a transaction, before its end; a
 * read that was alone is asked again in a transaction that ends with an echo. A change that was alone and found no row stays unproven.
 */
export function proving(client: Pick<Client, "main" | "aside">, onMisrouted: OnMisrouted): ProvenClient {
  const ask = preparedAsk(onMisrouted);

  async function askAgain(pool: Pool, text: string, parameters: readonly Parameter[]): Promise<Answer> {
    const transaction = proven(await pool.begin(), ask, onMisrouted);
    try {
      const answer = await transaction.ask(text, parameters);
      await transaction.prove();
      return answer;
    } finally {
      // The transaction wrote nothing. If the connection is lost, so is the transaction.
      await transaction.rollback().catch(() => {});
    }
  }

  const alone = (pool: Pool): Session => ({
    async ask(text, parameters) {
      const { answer, isProven, isRead } = await ask(pool, text, parameters);
      return isProven || !isRead ? answer : askAgain(pool, text, parameters);
    },
  });

  return {
    ...alone(client.main),
    aside: alone(client.aside),
    begin: async (options) => proven(await client.main.begin(options), ask, onMisrouted),
  };
}

interface Asked {
  readonly answer: Answer;
  readonly isProven: boolean;
  /** Whether it changes nothing, so that it may be repeated. */
  readonly isRead: boolean;
}

type Ask = (session: Session, text: string, parameters: readonly Parameter[]) => Promise<Asked>;

/** Returns a function that runs a statement with a number that no other statement of this process has. */
function preparedAsk(onMisrouted: OnMisrouted): Ask {
  const echoOf = keptEchoes();
  // It starts at a random number, so that it also differs between two processes that a pooler confuses.
  let last = randomInt(2 ** 30);
  return async (session, text, parameters) => {
    const echo = echoOf(text, parameters.length);
    if (echo === undefined)
      return { answer: await session.ask(text, parameters), isProven: false, isRead: false };
    last = (last + 1) & 0x7fffffff;
    const nonce = last;
    const answer = await session.ask(echo.text, [...parameters, nonce]);
    for (const row of answer.rows) {
      if (row[NONCE] !== nonce) onMisrouted(echo.text);
      // Safe: a client makes the rows anew for each answer.
      delete (row as Record<string, unknown>)[NONCE];
    }
    return { answer, isProven: answer.rows.length > 0, isRead: echo.isRead };
  };
}

function proven(transaction: Transaction, ask: Ask, onMisrouted: OnMisrouted): ProvenTransaction {
  let isOwed = false;
  const askHere = async (text: string, parameters: readonly Parameter[]): Promise<Answer> => {
    const { answer, isProven } = await ask(transaction, text, parameters);
    isOwed = !isProven;
    return answer;
  };
  const prove = async () => {
    if (!isOwed) return;
    const { rows } = await askHere(FENCE, []);
    if (rows.length !== 1) onMisrouted(FENCE);
  };
  return {
    ask: askHere,
    prove,
    async commit() {
      try {
        await prove();
      } catch (error) {
        await transaction.rollback().catch(() => {});
        throw error;
      }
      await transaction.commit();
    },
    rollback: () => transaction.rollback(),
  };
}

function keptEchoes() {
  const kept = new Map<string, Echoing | undefined>([
    [FENCE, { text: `select $1::int4 as ${NONCE}`, isRead: true }],
  ]);
  return (text: string, parameters: number): Echoing | undefined => {
    if (kept.has(text)) return kept.get(text);
    if (kept.size >= MOST_KEPT) kept.clear();
    const echo = echoing(text, parameters);
    kept.set(text, echo);
    return echo;
  };
}
