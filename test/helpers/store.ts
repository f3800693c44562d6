import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiKey } from "../../src/domain/access/account.ts";
import type { Act } from "../../src/domain/access/actor.ts";
import { OPEN_POLICY } from "../../src/domain/access/key-policy.ts";
import { ALL_SCOPES } from "../../src/domain/access/token-terms.ts";
import { taskError } from "../../src/domain/errors.ts";
import type {
  AccountId,
  AssetId,
  AttemptId,
  CallbackId,
  FileId,
  KeyId,
  LaneId,
  LeaseToken,
  ModelId,
  ProviderId,
  TaskId,
  TokenId,
} from "../../src/domain/ids.ts";
import type { Asset } from "../../src/domain/media/asset.ts";
import { type Micros, toMicros } from "../../src/domain/money/money.ts";
import type { AccountStore, NewAccount } from "../../src/domain/ports/account-store.ts";
import type { CallbackStore } from "../../src/domain/ports/callback-store.ts";
import type { ChoiceStore } from "../../src/domain/ports/choice-store.ts";
import type { AttemptIntent, ClaimQuery } from "../../src/domain/ports/claims.ts";
import type { ImportStore } from "../../src/domain/ports/import-store.ts";
import type { PriceStore } from "../../src/domain/ports/price-store.ts";
import type { RetentionStore } from "../../src/domain/ports/retention-store.ts";
import { type RouteOfLane, WHOLE_ACCOUNT } from "../../src/domain/ports/route-store.ts";
import type { Ids } from "../../src/domain/ports/runtime.ts";
import type { SearchStore } from "../../src/domain/ports/search-store.ts";
import type { SessionStore } from "../../src/domain/ports/session-store.ts";
import type { TaskStore } from "../../src/domain/ports/task-store.ts";
import type { TimeStore } from "../../src/domain/ports/time-store.ts";
import type { TrailStore } from "../../src/domain/ports/trail-store.ts";
import type { UploadStore } from "../../src/domain/ports/upload-store.ts";
import type { UsageStore } from "../../src/domain/ports/usage-store.ts";
import type { IdempotencyClaim } from "../../src/domain/task/idempotency.ts";
import type { Lease, NewTask } from "../../src/domain/task/task.ts";
import { cancelled, failed, outputsReady, submitted, succeeded } from "../../src/domain/task/transition.ts";

/** Names used wherever a test does not care which. */
export const ACCOUNT = accountId(1);
export const LANE = "sandbox" as ProviderId;
/** All of an account at a provider. */
export const whole = (lane: LaneId): RouteOfLane => ({ lane, upstreamModel: WHOLE_ACCOUNT });
/** The present in every store test, unless it says otherwise. */
export const NOW = 1_000_000;

export function taskId(number: number): TaskId {
  return fixedId("task", number) as TaskId;
}
export function accountId(number: number): AccountId {
  return fixedId("acc", number) as AccountId;
}
export function keyId(number: number): KeyId {
  return fixedId("key", number) as KeyId;
}
export function tokenId(number: number): TokenId {
  return fixedId("tok", number) as TokenId;
}
/** What the user of a data folder does. */
export function byHand(at: number): Act {
  return { actor: { kind: "local", name: "root" }, at };
}
/** What a management token does. */
/** The service itself acts, at `NOW` unless given. */
export function bySystem(at: number = NOW): Act {
  return { actor: { kind: "system" }, at };
}
export function byToken(at: number): Act {
  return { actor: { kind: "token", tokenId: tokenId(1), tokenName: "console", scopes: ALL_SCOPES }, at };
}
export function attemptId(number: number): AttemptId {
  return fixedId("att", number) as AttemptId;
}
export function callbackId(number: number): CallbackId {
  return fixedId("cb", number) as CallbackId;
}
export function assetId(number: number): AssetId {
  return fixedId("asset", number) as AssetId;
}
export function fileId(number: number): FileId {
  return fixedId("file", number) as FileId;
}
export function lane(name: string): ProviderId {
  return name as ProviderId;
}
export function micros(value: number): Micros {
  return toMicros(value);
}

/** Ids that sort by their number, as real ones sort by time. */
function fixedId(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, "0")}`;
}

/** Tokens that name the claim they come from: the first is `lease-1`. */
export function countingTokens(): Pick<Ids, "leaseToken"> {
  let count = 0;
  return {
    leaseToken: () => {
      count += 1;
      return `lease-${count}` as LeaseToken;
    },
  };
}

export function newTask(given: Partial<NewTask> & { number?: number } = {}): NewTask {
  const { number = 1, ...fields } = given;
  return {
    id: taskId(number),
    accountId: ACCOUNT,
    keyId: keyId(1),
    requestId: `req_${number}`,
    kind: "image",
    model: "sandbox-image" as ModelId,
    request: {
      kind: "image",
      model: "sandbox-image" as ModelId,
      mode: "text-to-image",
      prompt: "a lighthouse at dusk",
      n: 1,
      parameters: { size: "1024x1024", seed: 0 },
      inputs: [],
    },
    quote: {
      priceVersion: "1",
      outputs: 1,
      lines: [{ sku: "image", unit: "output", unitMicros: micros(40_000), perOutput: 1 }],
      ceiling: micros(40_000),
    },
    held: micros(40_000),
    origin: "http://localhost:8080",
    callbackUrl: undefined,
    lane: LANE,
    routeIndex: 0,
    createdAt: NOW,
    ...fields,
  };
}

export function newAsset(given: Partial<Asset> & { number?: number } = {}): Asset {
  const { number = 1, ...fields } = given;
  return {
    id: assetId(number),
    accountId: ACCOUNT,
    taskId: taskId(1),
    role: "output",
    index: 0,
    sha256: "a".repeat(64),
    sizeBytes: 1234,
    type: "image/png",
    width: 64,
    height: 32,
    durationMs: undefined,
    createdAt: NOW,
    ...fields,
  };
}

export function newKey(given: Partial<ApiKey> & { number?: number } = {}): ApiKey {
  const { number = 1, ...fields } = given;
  return {
    id: keyId(number),
    accountId: ACCOUNT,
    name: `key ${number}`,
    hash: String(number).padStart(64, "0"),
    display: "sk-svc-abcd…wxyz",
    policy: OPEN_POLICY,
    signsCallbacks: false,
    createdAt: NOW,
    ...fields,
  };
}

export function newClaim(given: Partial<IdempotencyClaim> = {}): IdempotencyClaim {
  return {
    keyId: keyId(1),
    endpoint: "POST /v1/images/generations",
    key: "order-1",
    fingerprint: "f".repeat(64),
    expiresAt: NOW + 1000,
    ...given,
  };
}

/** Room for a thousand tasks in the one lane, unless given otherwise. */
export function claimQuery(given: Partial<ClaimQuery> = {}): ClaimQuery {
  return {
    now: NOW,
    leaseMs: 30_000,
    limit: 10,
    lanes: [{ lane: LANE, capacity: 1000 }],
    capacity: 1000,
    ...given,
  };
}

/** A database file in a directory of its own. */
export function temporaryDatabase(): { path: string; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "svc-store-"));
  return {
    path: join(directory, "svc.db"),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** What the contract suites work on: the ports of one store, empty, and its end. */
export interface StoreUnderTest {
  readonly tasks: TaskStore;
  readonly accounts: AccountStore;
  readonly callbacks: CallbackStore;
  readonly usage: UsageStore;
  readonly prices: PriceStore;
  readonly time: TimeStore;
  readonly retention: RetentionStore;
  readonly trail: TrailStore;
  readonly search: SearchStore;
  readonly imports: ImportStore;
  readonly sessions: SessionStore;
  readonly choices: ChoiceStore;
  readonly uploads: UploadStore;
  stop(): Promise<void>;
}
export type MakeStore = () => StoreUnderTest | Promise<StoreUnderTest>;

/** Runs `body` on a store of its own, with the unlimited account `ACCOUNT`, and closes the store. */
export function withStore(make: MakeStore, body: (store: StoreUnderTest) => Promise<void>) {
  return async (): Promise<void> => {
    const store = await make();
    try {
      await addAccount(store, { id: ACCOUNT });
      await body(store);
    } finally {
      await store.stop();
    }
  };
}

export async function addAccount(store: StoreUnderTest, given: Partial<NewAccount> & { id: AccountId }) {
  const fields = { name: given.id, mode: "unlimited", credit: micros(0), createdAt: NOW } as const;
  expect(await store.accounts.createAccount({ ...fields, ...given }, bySystem())).toBe("created");
}

export function admit(store: StoreUnderTest, task: Partial<NewTask> & { number?: number } = {}) {
  return store.tasks.admit({ task: newTask(task), assets: [] });
}

/** Claims the only task that is due. */
export async function claimOne(store: StoreUnderTest, query: Partial<ClaimQuery> = {}): Promise<Lease> {
  const { leases } = await store.tasks.claim(claimQuery(query));
  expect(leases).toHaveLength(1);
  return leases[0]!;
}

export function newIntent(given: Partial<AttemptIntent> = {}): AttemptIntent {
  return {
    id: attemptId(1),
    lane: LANE,
    upstreamModel: "upstream-model",
    at: NOW,
    deadlineAt: NOW + 600_000,
    ...given,
  };
}

/** Claims the only task that is due and begins its first attempt. */
export async function beginOne(store: StoreUnderTest, id = attemptId(1)): Promise<Lease> {
  const lease = await claimOne(store);
  expect(await store.tasks.begin(lease, newIntent({ id }))).toBe("begun");
  return lease;
}

/** A task whose upstream has it, polled next at `NOW + 50`, under no lease. */
export async function submitOne(store: StoreUnderTest): Promise<Lease> {
  const lease = await beginOne(store);
  expect(await store.tasks.apply(lease, submitted(NOW, attemptId(1), { job: "u1" }, NOW + 50))).toBe(
    "applied",
  );
  return lease;
}

/** Takes the one task that is due to its end at `at`; a completed one has as many outputs as told. */
export async function endOne(
  store: StoreUnderTest,
  status: "completed" | "failed" | "cancelled",
  { at = NOW, outputs = 1, cost }: { at?: number; outputs?: number; cost?: Micros } = {},
): Promise<Lease> {
  const lease = await claimOne(store, { now: at, limit: 1 });
  const { task } = lease;
  const number = Number(task.id.slice(-6));
  const attempt = attemptId(number);
  expect(await store.tasks.begin(lease, newIntent({ id: attempt }))).toBe("begun");
  await store.tasks.apply(lease, outputsReady(NOW, attempt, []));
  const output = { accountId: task.accountId, taskId: task.id };
  const assets = Array.from({ length: outputs }, (_, index) =>
    newAsset({ ...output, number: number * 10 + index, index }),
  );
  const over = { id: attempt, state: "done", costMicros: cost } as const;
  const transition = {
    completed: () =>
      succeeded(task, at, attempt, assets, undefined, callbackId(number), { costMicros: cost }),
    failed: () => failed(task, at, taskError("UPSTREAM_ERROR"), callbackId(number), over),
    cancelled: () => cancelled(task, at, over),
  }[status]();
  expect(await store.tasks.apply(lease, transition)).toBe("applied");
  return lease;
}

/** Everything of a task and its account that a refused write must leave alone. */
export async function snapshot(store: StoreUnderTest, id: TaskId = taskId(1)) {
  const task = await store.tasks.byId(id);
  return {
    task,
    attempts: await store.tasks.attempts(id),
    counts: await store.tasks.counts(),
    account: await store.accounts.account(ACCOUNT),
    ledger: await store.accounts.ledger(ACCOUNT),
    callback: await store.callbacks.byId(callbackId(1)),
  };
}
