import { DAY_MS } from "../../../domain/day.ts";
import type { LaneId } from "../../../domain/ids.ts";
import type { Row } from "../../sqlite/task-store/turns.ts";
import { asRows, given } from "../given-rows.ts";
import { type Session, statement } from "../session.ts";

/** A setup that nothing has waited for since so long begins anew. */
const KEPT_MS = DAY_MS;

const ROWS = statement<Row & { readonly lane: LaneId }, [lanes: readonly LaneId[]]>(
  "select lane, setup, since from lane_row where lane = any($1::text[])",
);
const PUT_ROWS = statement<never, [rows: string]>(
  `insert into lane_row (lane, setup, since) select lane, setup, since
     from ${given("$1", { lane: "text", setup: "text", since: "bigint" })}
   on conflict (lane) do update set setup = excluded.setup, since = excluded.since`,
);
const PUT_TURNS = statement<never, [turns: string, now: number]>(
  `insert into lane_turn (lane, setup, account_number, served_at) select lane, setup, account, $2
     from ${given("$1", { lane: "text", setup: "text", account: "bigint" })}
   on conflict (lane, setup) do update set account_number = excluded.account_number, served_at = excluded.served_at`,
);
const FORGET = statement<never, [lanes: readonly LaneId[], before: number]>(
  "delete from lane_turn where lane = any($1::text[]) and served_at < $2",
);

/** Whose turn it is in each lane, for one claim. Who reads and writes it has the lock of claims. */
export class LaneTurns {
  readonly #served = new Map<string, { lane: LaneId; setup: string; account: number }>();
  readonly #begun = new Map<LaneId, Row>();

  private constructor(private readonly rows: Map<LaneId, Row>) {}

  static async read(session: Session, lanes: readonly LaneId[]): Promise<LaneTurns> {
    const rows = await ROWS.all(session, lanes);
    return new LaneTurns(new Map(rows.map(({ lane, setup, since }) => [lane, { setup, since }])));
  }

  /** The latest row of a lane, which may be over. */
  rowOf(lane: LaneId): Row | undefined {
    return this.rows.get(lane);
  }

  /** The account that this claim was the last to serve; undefined for none. */
  lastServed(lane: LaneId, setup: string): number | undefined {
    return this.#served.get(`${lane} ${setup}`)?.account;
  }

  begin(lane: LaneId, row: Row): void {
    this.rows.set(lane, row);
    this.#begun.set(lane, row);
  }

  /** Each setup has its own turns: an account that always comes first in one must not miss those of another. */
  serve(lane: LaneId, setup: string, account: number): void {
    this.#served.set(`${lane} ${setup}`, { lane, setup, account });
  }

  async write(session: Session, now: number): Promise<void> {
    const begun = [...this.#begun].map(([lane, row]) => ({ lane, ...row }));
    const served = [...this.#served.values()];
    await Promise.all([
      begun.length > 0 ? PUT_ROWS.run(session, asRows(begun)) : undefined,
      served.length > 0 ? PUT_TURNS.run(session, asRows(served), now) : undefined,
      begun.length > 0 ? FORGET.run(session, [...this.#begun.keys()], now - KEPT_MS) : undefined,
    ]);
  }
}
