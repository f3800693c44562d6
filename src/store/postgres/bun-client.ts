import { SQL } from "bun";
import {
  type Client,
  type ClientOptions,
  CONNECT_SECONDS,
  CONNECTION_SETTINGS,
  checkEnd,
  MOST_ASIDE,
  type Pool,
} from "./client.ts";
import type { Answer, Parameter } from "./session.ts";

/** Connects with Bun's own client. Nothing is sent before the first statement. */
export function openBunClient({ url, most }: ClientOptions): Client {
  const open = (max: number) =>
    new SQL({
      ...{ url, max, bigint: true, connectionTimeout: CONNECT_SECONDS },
      connection: CONNECTION_SETTINGS,
    });
  const [main, aside] = [open(most), open(MOST_ASIDE)];
  return {
    main: poolOn(main),
    aside: poolOn(aside),
    async listen(channel, tell, again) {
      await main.listen(channel, tell, again);
    },
    async close() {
      await Promise.all([main.close({ timeout: 0 }), aside.close({ timeout: 0 })]);
    },
  };
}

function poolOn(sql: SQL): Pool {
  return {
    ask: (text, parameters) => ask(sql, text, parameters),
    async begin() {
      const reserved = await sql.reserve();
      // Bun prepares a template, and sends it beside what follows, which fails where it failed. What comes through `unsafe` without
      // parameters goes by itself, and what follows waits for its answer (seen on Bun 1.4.5).
      reserved`begin`.catch(() => {});
      const words = { commit: () => reserved`commit`, rollback: () => reserved`rollback` };
      const end = async (word: "commit" | "rollback") => {
        try {
          checkEnd(word, (await words[word]()).command);
        } finally {
          reserved.release();
        }
      };
      return {
        ask: (text, parameters) => ask(reserved, text, parameters),
        commit: () => end("commit"),
        rollback: () => end("rollback"),
      };
    },
  };
}

async function ask(sql: SQL, text: string, parameters: readonly Parameter[]): Promise<Answer> {
  const rows = await sql.unsafe(text, parameters as unknown[]);
  for (const row of rows) toNumbers(row);
  return { rows, count: rows.count ?? 0 };
}

/** Every `bigint` of a table of ours is a whole number that a double holds exactly. */
function toNumbers(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "bigint") row[name] = Number(value);
  }
}
