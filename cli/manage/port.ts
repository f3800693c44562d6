import type { Local } from "../../src/app/local.ts";
import type { Account, ApiKey, ManagementToken } from "../../src/domain/access/account.ts";
import type { ConsoleSession } from "../../src/domain/access/console-session.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ListQuery, ListSlice } from "../../src/domain/lists.ts";
import type { ShownPrice, ShownRequestPrice } from "../../src/domain/money/price-form.ts";
import type { UsageReport } from "../../src/domain/money/usage.ts";
import type { LedgerRow } from "../../src/domain/ports/account-store.ts";
import type { ModelView } from "../client/model.ts";

/*
 * What the administration commands work with: a data folder of this machine, or a server with a management token. Both do the
 * same, so that no command knows which it is.
 */

type Folder = Local["manage"];
type FolderPrices = Awaited<ReturnType<Local["prices"]>>;
/** The arguments of the folder's method of this name. */
type Of<Name extends keyof Folder> = Parameters<Folder[Name]>;

/** A part of a list, read some rows at a time (`readSlices`). */
export type Slices<Item> = AsyncIterable<ListSlice<Item>>;

/** A key as operators see it. Its hash stays in the database. */
export type ShownKey = Omit<ApiKey, "hash">;
/** A key in a list. Servers of before do not tell the names of accounts there. */
export type ListedKey = ShownKey & { readonly accountName?: string | undefined };
export type ShownToken = Omit<ManagementToken, "hash">;
/** A movement of money in an account's ledger. */
export type ShownEntry = Omit<LedgerRow, "number" | "accountId">;

/** A key after a change. Nothing can show its secrets again. */
export interface ShownChange {
  readonly record: ShownKey;
  readonly callbackSecret?: string | undefined;
}
export interface ShownNewKey extends ShownChange {
  readonly key: string;
  readonly account: Pick<Account, "id" | "name">;
}

export interface ShownLedger {
  readonly account: Account;
  readonly rows: readonly ShownEntry[];
  readonly next?: number | undefined;
}

/** A session of the console, or a link to it. */
export type ShownSession = Omit<ConsoleSession, "grantHash">;

/** What is left of the quota of an active key. */
export interface ShownQuota {
  readonly key: Pick<ApiKey, "id">;
  readonly quota: Awaited<ReturnType<Folder["listQuotas"]>>["items"][number]["quota"];
}

/** Accounts, their money, keys, tokens and sessions; see `ManageAccounts`. */
export interface Manage {
  createAccount(...given: Of<"createAccount">): Promise<Account>;
  listAccounts(query?: ListQuery): Slices<Account>;
  readAccount(idOrName: string): Promise<Account>;
  updateAccount(...given: Of<"updateAccount">): Promise<Account>;
  suspendAccount(idOrName: string): Promise<Account>;
  activateAccount(idOrName: string): Promise<Account>;
  creditAccount(...given: Of<"creditAccount">): Promise<Account>;
  refundTask(...given: Of<"refundTask">): ReturnType<Folder["refundTask"]>;
  /** At most `limit` rows; fewer also where there are more. */
  readLedger(...given: Of<"readLedger">): Promise<ShownLedger>;
  readUsage(...given: Of<"readUsage">): Promise<UsageReport>;
  createKey(...given: Of<"createKey">): Promise<ShownNewKey>;
  listKeys(...given: Of<"listKeys">): Slices<ListedKey>;
  showKey(idOrName: string): Promise<ShownKey>;
  /** That of one key, if it is active and has one. */
  listQuotas(query: { readonly key: string }): Promise<Pick<ListSlice<ShownQuota>, "items">>;
  updateKey(...given: Of<"updateKey">): Promise<ShownChange>;
  rotateKey(...given: Of<"rotateKey">): Promise<ShownNewKey>;
  revokeKey(idOrName: string): Promise<ShownKey>;
  createToken(...given: Of<"createToken">): Promise<{ readonly token: string; readonly record: ShownToken }>;
  listTokens(query?: ListQuery): Slices<ShownToken>;
  revokeToken(idOrName: string): Promise<ShownToken>;
  /** `url` opens the console once. */
  createConsoleLink(): Promise<{ readonly url: string; readonly session: ShownSession }>;
  listSessions(): Promise<readonly ShownSession[]>;
  endSession(id: string): Promise<void>;
}

/** The prices of models; see `createManagePrices`. */
export interface Prices {
  list(): Promise<readonly ShownPrice[]>;
  read(id: string): Promise<ShownPrice>;
  /** The schema of the model's create body. */
  schema(id: string): Promise<JsonObject>;
  /** @param multiplier millionths */
  priceOf(id: string, parameters: JsonObject, multiplier?: number): Promise<ShownRequestPrice>;
  set(...given: Parameters<FolderPrices["set"]>): Promise<ShownPrice>;
  reset(id: string): Promise<ShownPrice & { readonly wasSet: boolean }>;
}

/** A data folder or a server. */
export interface Place {
  readonly manage: Manage;
  /** For messages: `in ./svc-data`, or `on https://svc.example`. */
  readonly at: string;
  /** Where clients reach the server; of a folder, one on its settings. */
  readonly origin: string;
  /** @throws ConfigError when the prices of the folder's settings file cannot be used */
  prices(): Promise<Prices>;
  /** Every model, whether or not a provider makes it. @throws ConfigError as `prices` does */
  models(): Promise<readonly ModelView[]>;
  /** Who changed what, newest first, as the API words it. A page can be empty and not be the last. */
  trail(query: TrailQuery): Promise<TrailListing>;
  /** The stored files. */
  files(): Promise<Files>;
  /** Suspends an account, and removes everything of it but its money. @returns what became of it, as the API words it */
  purge(account: Account["id"], onTask: (count: number) => void): Promise<JsonObject>;
  stop(): Promise<void>;
}

/** The stored files of all tasks, as the API words them. */
export interface Files {
  /** @param query.after `next` of the page before */
  list(query: { readonly limit: string; readonly after?: string | undefined }): Promise<{
    readonly assets: readonly JsonObject[];
    readonly next: string | null;
  }>;
  /** Removes what no task has, or with `isTrial` tells what would go. */
  collect(isTrial: boolean): Promise<JsonObject>;
  /** Compares every file with its hash. @param onFile told how many so far */
  verify(onFile: (files: number) => void): Promise<JsonObject>;
}

/** Which entries of the trail are meant, and one page of them. */
export type TrailQuery = Readonly<
  Record<"actor" | "action" | "object" | "since" | "until" | "limit" | "after", string | undefined>
>;
export interface TrailListing {
  readonly entries: readonly JsonObject[];
  readonly next: string | null;
}
