import { expect, test } from "bun:test";
import { echoing } from "../../../src/store/postgres/echo.ts";

const N = "$2::int4 as svc_nonce";
const CASES = [
  ["select a from b where c = $1", `select ${N}, a from b where c = $1`],
  ["select distinct on (a) b from c", `select distinct on (a) ${N}, b from c`],
  [
    "select a from b where a is distinct from $1 union all select 'select, (' from (select 1) as d",
    `select ${N}, a from b where a is distinct from $1 union all select ${N}, 'select, (' from (select 1) as d`,
  ],
  ["with a as (select 1 from b) select * from a", `with a as (select 1 from b) select ${N}, * from a`],
  [
    "select a, count(*) from b group by 1 order by a",
    `select ${N}, answered.* from (select a, count(*) from b group by 1 order by a) as answered`,
  ],
  [
    "insert into a select 1 on conflict (b) do update set c = 1",
    `insert into a select 1 on conflict (b) do update set c = 1 returning ${N}`,
  ],
  ["delete from a where b = $1 returning *", `delete from a where b = $1 returning ${N}, *`],
  [
    "with a as (delete from b returning c) update d set e = $1",
    `with a as (delete from b returning c) update d set e = $1 returning ${N}`,
  ],
] as const;
for (const [given, echoed] of CASES)
  test(`each row echoes a number: ${given}`, () => {
    expect(echoing(given, 1)?.text).toBe(echoed);
  });

for (const given of ["analyze", "create table a (b text)", "set transaction read only", "select 1; select 2"])
  test(`what has no rows is left as it is: ${given}`, () => {
    expect(echoing(given, 0)).toBeUndefined();
  });

test("a statement that changes something is not a read", () => {
  expect(echoing("select a from b", 0)?.isRead).toBe(true);
  expect(echoing("with c as (delete from a returning b) select * from c", 0)?.isRead).toBe(false);
  expect(echoing("select a from b for update", 0)?.isRead).toBe(false);
});
