import type { Asset } from "../../../domain/media/asset.ts";
import { type Micros, toMicros } from "../../../domain/money/money.ts";
import type { Allowance } from "../../sqlite/quota-allowance.ts";
import { asRows } from "../given-rows.ts";
import { appendingOfCreated, type EntryRow } from "../ledger.ts";
import { quotas } from "../quotas.ts";
import { type Session, statement } from "../session.ts";
import { placeOf } from "./admit-standing.ts";
import { insertAssets } from "./assets.ts";
import { type RecordRow, recording } from "./idempotency.ts";
import { creating, type NewTaskRow, type PreparedAdmission } from "./new-task.ts";

// Where another process has just written one of the records, nothing of these creates may be kept: the counts tell.
const ADMIT = statement<
  { entered: number; recorded: number },
  [
    ...[tasks: string, accountNumber: number, entries: string, held: number],
    ...[isLow: number, records: string, now: number],
  ]
>(
  `with created as (${creating("$1")} returning number, id),
     entered as (${appendingOfCreated("$3", "$2")} returning 1),
     held as (update account set held_micros = held_micros + $4::bigint, low_balance_told = greatest(low_balance_told, $5::smallint)
       where number = $2 and $4::bigint > 0),
     recorded as (${recording("$6", "$7")} returning 1)
   select (select count(*) from entered)::bigint as entered, (select count(*) from recorded)::bigint as recorded`,
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
    private readonly accountNumber: number,
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
    const { session } = this;
    const written = [
      // What opens a period counts the tasks before these.
      ...[...this.#reserved.values()].map((each) => this.#reserve(each)),
      this.#admit(),
      insertAssets(session, this.#assets),
    ];
    this.hasWritten = true;
    [this.#tasks, this.#entries, this.#assets, this.#records] = [[], [], [], []];
    this.#reserved.clear();
    await Promise.all(written);
  }

  async #admit(): Promise<void> {
    const [entries, records] = [this.#entries, this.#records];
    const held = entries.reduce((sum, entry) => sum + entry.held_delta_micros, 0);
    const written = await ADMIT.get(
      this.session,
      asRows(this.#tasks),
      this.accountNumber,
      asRows(entries),
      held,
      this.#isLow ? 1 : 0,
      asRows(records),
      this.#latest,
    );
    if (written?.entered !== entries.length) throw new Error("Not every hold was entered.");
    if (written.recorded !== records.length) throw new Error("An idempotency key is used by another create.");
  }

  async #reserve({ allowance, amount }: { allowance: Allowance; amount: Micros }): Promise<void> {
    await Promise.all([
      allowance.isCounted ? undefined : quotas.open(this.session, allowance),
      quotas.reserve(this.session, allowance, amount),
    ]);
  }
}
