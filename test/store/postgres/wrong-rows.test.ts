import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

/*
 * Published ways in which Bun's client gave a statement the rows of another one, or none ever. Each was so in 1.3.14, and must not be in
 * the Bun that is pinned. Sources were checked 2026-11-27.
 */
const ROUNDS = 50;

async function withClient<T>(most: number, body: (sql: SQL) => Promise<T>): Promise<T> {
  const sql = new SQL({ url: await urlOfPostgres(), max: most });
  try {
    return await body(sql);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

describe.skipIf(!CAN_TEST_POSTGRES)("Bun's client", () => {
  afterAll(stopPostgres);

  /** https://github.com/oven-sh/bun/pull/33627: the last was sent before the one in the middle, and got lost. */
  test("sends a new statement before a known one that was asked later", async () => {
    for (let round = 0; round < ROUNDS; round++)
      await withClient(1, async (sql) => {
        await sql.unsafe("select $1::text as v", ["known"]);
        const answers = await Promise.all([
          sql.unsafe("select $1::text as v", ["a"]),
          sql.unsafe("select $1::text as v, $2::int as w", ["b", round]),
          sql.unsafe("select $1::text as v", ["c"]),
        ]);
        expect(answers.map(([row]) => row)).toEqual([{ v: "a" }, { v: "b", w: round }, { v: "c" }]);
      });
  });

  /** https://github.com/oven-sh/bun/issues/33665, the same on a connection that goes on: half of the answers were wrong. */
  test("tells known and new statements apart on a connection that is kept", async () => {
    await withClient(1, async (sql) => {
      for (let round = 0; round < ROUNDS; round++) {
        const [set, one, other, two] = await Promise.all([
          sql.unsafe(`select set_config('svc.round', $1, false) as set_${round}`, [`set ${round}`]),
          sql.unsafe("select $1::text as known", [`one ${round}`]),
          sql.unsafe(`select $1::text as new_${round}`, [`new ${round}`]),
          sql.unsafe("select $1::text as known", [`two ${round}`]),
        ]);
        expect([set[0], one[0], other[0], two[0]]).toEqual([
          { [`set_${round}`]: `set ${round}` },
          { known: `one ${round}` },
          { [`new_${round}`]: `new ${round}` },
          { known: `two ${round}` },
        ]);
      }
    });
  });

  /** https://github.com/oven-sh/bun/pull/32772: the second got the third's row, and the third one without columns. */
  test("tells statements without parameters from those with some", async () => {
    for (let round = 0; round < ROUNDS; round++)
      await withClient(1, async (sql) => {
        const answers = await Promise.all([
          sql.unsafe("select 'a'::text as v"),
          sql.unsafe("select $1::text as v", ["b"]),
          sql.unsafe("select 'c'::text as v"),
          sql.unsafe("select $1::text as v", ["d"]),
        ]);
        expect(answers.map(([row]) => row.v)).toEqual(["a", "b", "c", "d"]);
      });
  });

  /**
   * https://github.com/oven-sh/bun/issues/30494: of statements that begin with the same forty characters, which name them at the server,
   * and differ in how many parameters they have, one was run with the parameters of another.
   */
  test("tells statements apart that begin alike", async () => {
    const text = (count: number) =>
      `select array_to_string(array[${Array.from({ length: count }, (_, i) => `$${i + 1}::text`).join(", ")}], ',') as v`;
    await withClient(4, async (sql) => {
      const given = Array.from({ length: ROUNDS * 20 }, (_, i) =>
        Array.from({ length: 1 + (i % 17) }, (_, place) => `${i}.${place}`),
      );
      const answers = await Promise.all(given.map((values) => sql.unsafe(text(values.length), values)));
      expect(answers.map(([row]) => row.v)).toEqual(given.map((values) => values.join(",")));
    });
  });

  /**
   * https://github.com/oven-sh/bun/issues/32004: statements beside transactions waited for ever, and some ran within the transaction of
   * somebody else, whose connection was given to both.
   */
  test("keeps statements out of transactions that others began, and ends all of them", async () => {
    await withClient(4, async (sql) => {
      const inOne = async (round: number) => {
        const reserved = await sql.reserve();
        try {
          await reserved.unsafe("begin");
          await reserved.unsafe("select set_config('svc.owner', $1, true)", [`${round}`]);
          const [row] = await reserved.unsafe("select current_setting('svc.owner') as owner, $1::int as v", [
            round,
          ]);
          await reserved.unsafe("commit");
          return row;
        } finally {
          reserved.release();
        }
      };
      const alone = async (round: number) =>
        (
          await sql.unsafe("select coalesce(current_setting('svc.owner', true), '') as owner, $1::int as v", [
            round,
          ])
        )[0];
      const rounds = Array.from({ length: ROUNDS * 20 }, (_, i) => i);
      const rows = await Promise.all(rounds.map((round) => (round % 2 === 0 ? inOne(round) : alone(round))));
      expect(rows).toEqual(rounds.map((v) => ({ owner: v % 2 === 0 ? `${v}` : "", v })));
    });
  });
});
