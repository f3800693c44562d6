import type { AccountId, KeyId } from "../../src/domain/ids.ts";

/** A task as the reference knows it; all figures of money are sums over these. */
export interface BookedTask {
  readonly number: number;
  readonly account: AccountId;
  readonly key: KeyId;
  readonly held: number;
  readonly createdDay: number;
  isLive: boolean;
  /** In which it counts for its key's quota. */
  period?: number | undefined;
  charged: number;
  endedDay: number;
  refunded: number;
  /** Whether it was removed, and whether what the books say of it became sums. */
  fate?: "removed" | "summed" | undefined;
}

export interface BookedAccount {
  readonly isPrepaid: boolean;
  credited: number;
  creditLimit: number;
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** What a store must come to, kept the simplest way there is: nothing is stored that can be added up. */
export class Books {
  day = 0;
  readonly accounts = new Map<AccountId, BookedAccount>();
  readonly quotas = new Map<KeyId, { limit: number; isDaily: boolean }>();
  readonly tasks: BookedTask[] = [];
  /** For each key whose quota is counted: what counting began with, by period. */
  private readonly openings = new Map<KeyId, Map<number, number>>();

  balance(account: AccountId): number {
    const own = this.tasks.filter((task) => task.account === account);
    return (this.accounts.get(account)?.credited ?? 0) - sum(own.map((task) => task.charged - task.refunded));
  }

  held(account: AccountId): number {
    return sum(this.live().map((task) => (task.account === account ? task.held : 0)));
  }

  available(account: AccountId): number {
    const { isPrepaid, creditLimit } = this.accounts.get(account)!;
    return isPrepaid ? this.balance(account) - this.held(account) + creditLimit : Number.POSITIVE_INFINITY;
  }

  live(): BookedTask[] {
    return this.tasks.filter((task) => task.isLive);
  }

  period(key: KeyId): number | undefined {
    const quota = this.quotas.get(key);
    return quota && (quota.isDaily ? this.day : 0);
  }

  use(key: KeyId, period: number): { used: number; reserved: number } {
    const opening = this.openings.get(key)?.get(period);
    const isFirst = !this.openings.has(key);
    const counts = (task: BookedTask) =>
      task.key === key && (task.period === period || (isFirst && task.isLive && task.createdDay >= period));
    const counted = this.tasks.filter(counts);
    return {
      used: (opening ?? this.opening(key, period)) + sum(counted.map((task) => task.charged)),
      reserved: sum(counted.map((task) => (task.isLive ? task.held : 0))),
    };
  }

  /** The first period that is counted begins with what happened in it before. */
  private opening(key: KeyId, period: number): number {
    if (this.openings.has(key)) return 0;
    return sum(this.tasks.map((task) => (task.key === key && task.endedDay >= period ? task.charged : 0)));
  }

  count(key: KeyId, period: number): void {
    const isFirst = !this.openings.has(key);
    const periods = this.openings.get(key) ?? new Map<number, number>();
    if (!periods.has(period)) periods.set(period, this.opening(key, period));
    this.openings.set(key, periods);
    if (!isFirst) return;
    for (const task of this.live()) if (task.key === key && task.createdDay >= period) task.period = period;
  }

  /** A quota that is lifted, or begins anew at other times, is counted anew. */
  setQuota(key: KeyId, quota: { limit: number; isDaily: boolean } | undefined): void {
    if (this.quotas.get(key)?.isDaily !== quota?.isDaily) {
      this.openings.delete(key);
      for (const task of this.tasks) if (task.key === key) task.period = undefined;
    }
    if (quota === undefined) this.quotas.delete(key);
    else this.quotas.set(key, quota);
  }
}
