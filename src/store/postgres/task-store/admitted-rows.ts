import type { AccountId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import { type Micros, toMicros } from "../../../domain/money/money.ts";
import type { Allowance } from "../../sqlite/quota-allowance.ts";
import type { EntryRow, Ledger } from "../ledger.ts";
import { quotas } from "../quotas.ts";
import { type Session, statement } from "../session.ts";
import { placeOf } from "./admit-standing.ts";
import { insertAssets } from "./assets.ts";
import { type RecordRow, records } from "./idempotency.ts";
import { insertTasks, type NewTaskRow, type PreparedAdmission } from "./new-task.ts";

const HOLD = statement<never, [amount: number, account: string, isLow: number]>(
  `update account set held_micros = held_micros + $1::bigint, low_balance_told = greatest(low_balance_told, $3::smallint)
   where id = $2`,
);

/** What admitted tasks of one account become, until it is written at once. */
export class AdmittedRows {
  hasWritten = false;
  #tasks: NewTaskRow[] = [];
  #entries: EntryRow[] = [];
  #assets: Asset[] = [];
  #records: RecordRow[] = [];
  #reserved = new Map<string, { readonly allowance: Allowance; readonly amount: Micros }>();
  #isLow = false;
  #latest = 0;

  constructor(
    private readonly session: Session,
    private readonly of: AccountId,
    private readonly accountNumber: number,
    private readonly ledger: Pick<Ledger, "append">,
  ) {}

  add(
    { admission, row, entry, record }: PreparedAdmission,
    { allowance, isLow }: { readonly allowance: Allowance | undefined; readonly isLow: boolean },
  ): void {
    const { task, assets } = admission;
    this.#tasks.push(allowance === undefined ? row : { ...row, quota_period: allowance.period });
    if (entry !== undefined) this.#entries.push(entry);
    this.#assets.push(...assets);
    if (record !== undefined) this.#records.push(record);
    this.#isLow ||= isLow;
    this.#latest = Math.max(this.#latest, task.createdAt);
    if (allowance === undefined) return;
    const place = placeOf(allowance);
    const before = this.#reserved.get(place);
    this.#reserved.set(place, {
      // A period is opened with what was held before the first of these: what later ones see has the holds of those before them.
      allowance: before?.allowance ?? allowance,
      amount: toMicros((before?.amount ?? 0) + task.held),
    });
  }

  /** Writes what was added since it was last called. The statements do not wait for each other's answers. */
  async write(): Promise<void> {
    if (this.#tasks.length === 0) return;
    const { session, of } = this;
    const held = this.#entries.reduce((sum, entry) => sum + entry.held_delta_micros, 0);
    const written = [
      // What opens a period counts the tasks before these.
      ...[...this.#reserved.values()].map((each) => this.#reserve(each)),
      insertTasks(session, this.accountNumber, this.#tasks),
      held > 0 ? HOLD.run(session, held, of, this.#isLow ? 1 : 0) : undefined,
      this.ledger.append(session, of, this.#entries),
      records.put(session, this.#records, this.#latest),
      insertAssets(session, this.#assets),
    ];
    this.hasWritten = true;
    [this.#tasks, this.#entries, this.#assets, this.#records] = [[], [], [], []];
    this.#reserved.clear();
    await Promise.all(written);
  }

  async #reserve({ allowance, amount }: { allowance: Allowance; amount: Micros }): Promise<void> {
    await Promise.all([
      allowance.isCounted ? undefined : quotas.open(this.session, allowance),
      quotas.reserve(this.session, allowance, amount),
    ]);
  }
}
