import type { ModelId } from "../../domain/ids.ts";
import type { PriceRule } from "../../domain/model/model.ts";
import type { PriceOverride, PriceStore } from "../../domain/ports/price-store.ts";
import { formOf, priceSet } from "../sqlite/price-store.ts";
import { priceOverride } from "../sqlite/price-table.ts";
import type { RawRow } from "../sqlite/raw-row.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { rowOf } from "./row.ts";
import { type Session, statement } from "./session.ts";
import { writeTrail } from "./trail.ts";

type Row = RawRow<typeof priceOverride>;

const ALL = statement<Row>("select * from price_override order by model");
/** Held until the transaction ends, so that the previous value in the trail is the one that is replaced. */
const HELD = statement<Row, [model: string]>("select * from price_override where model = $1 for update");
const PUT = statement<never, [model: string, rule: string, setAt: number, reason: string]>(
  `insert into price_override (model, rule, set_at, reason) values ($1, $2, $3, $4)
   on conflict (model) do update set rule = excluded.rule, set_at = excluded.set_at, reason = excluded.reason`,
);
const REMOVE = statement<Row, [model: string]>("delete from price_override where model = $1 returning *");

const toOverride = rowOf(priceOverride);
const all = async (session: Session): Promise<PriceOverride[]> => (await ALL.all(session)).map(toOverride);

/** Prices set by the operator, in PostgreSQL. There are few, so all are kept in memory from the start. */
export async function openPriceStore(
  { read, write }: Pick<Connection, "read" | "write">,
  watch: Pick<ChangeWatch, "onChange" | "tell">,
): Promise<PriceStore> {
  const rules = await openRules(() => read(all));
  watch.onChange("prices", { forget: rules.renew, age: rules.renew });
  return {
    rule: rules.of,
    overrides: () => read(all),
    async set({ model, rule, setAt, reason }, act) {
      await write(async (session) => {
        const held = await HELD.get(session, model);
        await PUT.run(session, model, JSON.stringify(rule), setAt, reason);
        await writeTrail(session, act, priceSet({ model, rule, reason }, held && toOverride(held)));
      });
      rules.put(model, rule);
      await watch.tell("prices");
    },
    async remove(model, act) {
      const isRemoved = await write(async (session) => {
        const removed = await REMOVE.get(session, model);
        if (removed === undefined) return false;
        const before = formOf(toOverride(removed));
        await writeTrail(session, act, {
          ...{ action: "price.reset", object: { kind: "model", id: model } },
          before,
        });
        return true;
      });
      rules.put(model, undefined);
      await watch.tell("prices");
      return isRemoved;
    },
  };
}

/** The rules in memory. */
async function openRules(load: () => Promise<readonly PriceOverride[]>) {
  const toRules = (overrides: readonly PriceOverride[]) =>
    new Map(overrides.map(({ model, rule }) => [model, rule]));
  let rules = toRules(await load());
  /** Counts reads. The result of a read is outdated if a later read, or a change by this process, has begun since. */
  let begun = 0;

  async function read(): Promise<void> {
    const mine = ++begun;
    const found = await load();
    if (mine === begun) rules = toRules(found);
  }

  return {
    of: (model: ModelId): PriceRule | undefined => rules.get(model),
    put(model: ModelId, rule: PriceRule | undefined): void {
      if (rule === undefined) rules.delete(model);
      else rules.set(model, rule);
      renew();
    },
    renew,
  };

  /** Reads all prices again. If that fails, the known ones stay until the next time. */
  function renew(): void {
    void read().catch(() => {});
  }
}
