import { Database } from "bun:sqlite";
import type { TaskId } from "../../../src/domain/ids.ts";
import type { Lease } from "../../../src/domain/task/task.ts";
import { outputsReady, succeeded } from "../../../src/domain/task/transition.ts";
import { createRetention } from "../../../src/scheduler/retention.ts";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  addAccount,
  assetId,
  attemptId,
  callbackId,
  claimQuery,
  micros,
  newAsset,
  newIntent,
  newTask,
} from "../../helpers/store.ts";

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2027, 0, 1);
const MINUTE_MS = 60_000;
/** Tasks that are under way at one time. */
const AT_ONCE = 500;

export interface YearOptions {
  readonly days: number;
  readonly tasks: number;
  readonly kept: number;
  readonly books: number;
}

/** What there is at the end of a day. */
export interface YearDay {
  readonly fileBytes: number;
  /** Pages that hold nothing, and are used again. */
  readonly freeBytes: number;
  readonly tasks: number;
  readonly sums: number;
}

export interface YearReport {
  readonly days: readonly YearDay[];
  readonly made: number;
  /** What the usage of the year says. */
  readonly counted: number;
  /** That the audit finds. */
  readonly differences: number;
}

/** @param tell called once for every month */
export async function simulateYear(options: YearOptions, tell: (line: string) => void): Promise<YearReport> {
  const { path, remove } = migratedFile();
  const store = openStore({ path });
  const reader = new Database(path, { readonly: true });
  const days: YearDay[] = [];
  try {
    await addAccount(store, { id: ACCOUNT, createdAt: FIRST_DAY });
    for (let day = 0; day < options.days; day++) {
      await makeTasks(store, { day, count: options.tasks });
      await removeDue(store, { now: FIRST_DAY + (day + 1) * DAY_MS, ...options });
      days.push(look(reader));
      if (day % 30 === 0) tell(`day ${day}: ${JSON.stringify(days.at(-1))}`);
    }
    const range = { from: FIRST_DAY / DAY_MS, to: FIRST_DAY / DAY_MS + options.days };
    const lines = await store.usage.report({ ...range, by: "provider" });
    const audit = openAudit({ path });
    const { differences } = await audit.run();
    audit.stop();
    return {
      days,
      made: options.days * options.tasks,
      counted: lines.reduce((sum, { completed }) => sum + completed, 0),
      differences: differences.length,
    };
  } finally {
    reader.close();
    await store.stop();
    remove();
  }
}

async function makeTasks(store: Store, { day, count }: { day: number; count: number }): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const numbers = Array.from(
      { length: Math.min(AT_ONCE, count - from) },
      (_, i) => day * count + from + i + 1,
    );
    const at = FIRST_DAY + day * DAY_MS + from * 10;
    await Promise.all(
      numbers.map((number) => store.tasks.admit({ task: newTask({ number, createdAt: at }), assets: [] })),
    );
    const { leases } = await store.tasks.claim(claimQuery({ now: at, limit: numbers.length }));
    await Promise.all(leases.map((lease) => complete(store, lease, at + MINUTE_MS)));
  }
}

async function complete({ tasks }: Store, lease: Lease, at: number): Promise<void> {
  const number = numberOf(lease.task.id);
  const attempt = attemptId(number);
  await tasks.begin(lease, newIntent({ id: attempt, at }));
  await tasks.apply(lease, outputsReady(at, attempt, []));
  const asset = newAsset({
    id: assetId(number),
    accountId: ACCOUNT,
    taskId: lease.task.id,
    sha256: new Bun.CryptoHasher("sha256").update(String(number)).digest("hex"),
    createdAt: at,
  });
  const cost = { costMicros: micros(15_000) };
  const end = succeeded(lease.task, at, attempt, [asset], undefined, callbackId(number), cost);
  const result = await tasks.apply(lease, end);
  if (result !== "applied") throw new Error(`Task ${number} could not be completed: ${result}.`);
}

const numberOf = (id: TaskId): number => Number(id.slice("task_".length));

/** Does what a server does in a day, at once. */
async function removeDue(store: Store, { now, kept, books }: { now: number; kept: number; books: number }) {
  const at = {
    now: () => now,
    elapsed: () => 0,
    after(_ms: number, run: () => void) {
      queueMicrotask(run);
      return () => {};
    },
  };
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const keptMs = () => ({ tasks: kept * DAY_MS });
  const booksMs = () => (books - kept) * DAY_MS;
  const { retention, uploads } = store;
  const retire = createRetention({
    ...{ retention, uploads },
    removeContents: async () => {},
    clock: at,
    log: quiet,
    keptMs,
    booksMs,
  });
  await retire.tick();
}

function look(db: Database): YearDay {
  const one = (sql: string) =>
    Number(Object.values(db.query<Record<string, number>, []>(sql).get() ?? {})[0]);
  const pageBytes = one("pragma page_size");
  return {
    fileBytes: one("pragma page_count") * pageBytes,
    freeBytes: one("pragma freelist_count") * pageBytes,
    tasks: one("select count(*) from task"),
    sums: one(
      "select (select count(*) from books_day) + (select count(*) from ledger_entry where entries is not null)",
    ),
  };
}
