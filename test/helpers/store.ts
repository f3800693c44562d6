import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Asset } from "../../src/domain/asset.ts";
import type { IdempotencyClaim } from "../../src/domain/idempotency.ts";
import type {
  AccountId,
  AssetId,
  AttemptId,
  CallbackId,
  KeyId,
  LeaseToken,
  ModelId,
  ProviderId,
  TaskId,
  TokenId,
} from "../../src/domain/ids.ts";
import { type Micros, toMicros } from "../../src/domain/money.ts";
import type { Ids } from "../../src/domain/ports/runtime.ts";
import type { ClaimQuery, NewTask } from "../../src/domain/ports/task-store.ts";

/** Names used wherever a test does not care which. */
export const ACCOUNT = accountId(1);
export const LANE = "sandbox" as ProviderId;
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
export function attemptId(number: number): AttemptId {
  return fixedId("att", number) as AttemptId;
}
export function callbackId(number: number): CallbackId {
  return fixedId("cb", number) as CallbackId;
}
export function assetId(number: number): AssetId {
  return fixedId("asset", number) as AssetId;
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

export function newClaim(given: Partial<IdempotencyClaim> = {}): IdempotencyClaim {
  return {
    keyId: keyId(1),
    route: "POST /v1/images/generations",
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
