import { AppError } from "../../../domain/errors.ts";
import type { AccountId, FileId } from "../../../domain/ids.ts";
import type { UploadedFile } from "../../../domain/media/uploaded-file.ts";
import type { ArrivingFile, AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { UploadOwner } from "../../../service/upload-file.ts";

/** An upload in several requests. It exists only in this process; after a restart, its client starts again. */
export interface UploadSession {
  readonly owner: UploadOwner;
  readonly arriving: ArrivingFile;
  /** What its sender calls the file. */
  readonly name?: string | undefined;
  /** How many bytes its sender means to send. */
  readonly sizeBytes?: number | undefined;
  receivedBytes: number;
  /** Whether a request of it is being read. */
  isBusy: boolean;
  /** Whether it was forgotten, also while a request of it is being read. */
  isDropped: boolean;
}

export interface UploadSessions {
  /** @throws AppError `service_unavailable` where the account, or all, have too many under way */
  open(id: FileId, session: Pick<UploadSession, "owner" | "name" | "sizeBytes">): Promise<void>;
  /** The session of this id, which then lives on for a while. */
  find(id: string): UploadSession | undefined;
  /** How many uploads of an account are under way, and how many bytes they have received. */
  usedBy(account: AccountId): { readonly files: number; readonly bytes: number };
  /** Ends a session with its file, which is kept for a while for a sender that lost the answer. */
  end(id: string, file: UploadedFile): void;
  /** The file of a session that has ended. */
  fileOf(id: string): UploadedFile | undefined;
  /** Forgets a session, and what it has received. */
  drop(id: string): Promise<void>;
}

const IDLE_MS = 10 * 60_000;
/** Each has an open file. An account may have as many under way as it leaves to others. */
const MOST = 256;
/** Beyond this number, the file that came first is forgotten. */
const MOST_ENDED = 4_096;
const RETRY_SEC = 10;

export function createUploadSessions(deps: {
  readonly assets: Pick<AssetStore, "receive">;
  readonly clock: Pick<Clock, "after">;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}): UploadSessions {
  const sessions = new Map<string, { readonly session: UploadSession; stopTimer: () => void }>();
  /** Places of uploads under way, also of those whose file is still being opened. */
  const places = createPlaces();
  const files = createEndedUploads(deps.clock);

  /** Takes a session out of those under way. */
  function leave(id: string): UploadSession | undefined {
    const known = sessions.get(id);
    if (known === undefined) return undefined;
    known.stopTimer();
    sessions.delete(id);
    places.give(known.session.owner.accountId);
    return known.session;
  }

  const drop = async (id: string) => forget(leave(id));

  const dropAll = () => void Promise.all([...sessions.keys()].map(drop));
  deps.stopping.addEventListener("abort", dropAll, { once: true });
  deps.stopping.addEventListener("abort", files.clear, { once: true });

  /** One that is being read is not idle. */
  function expire(id: string): void {
    const known = sessions.get(id);
    if (known === undefined) return;
    if (known.session.isBusy) known.stopTimer = deps.clock.after(IDLE_MS, () => expire(id));
    else void drop(id);
  }

  return {
    async open(id, given) {
      const { accountId } = given.owner;
      const arriving = await places.within(accountId, () => deps.assets.receive());
      const session = { ...given, arriving, receivedBytes: 0, isBusy: false, isDropped: false };
      sessions.set(id, { session, stopTimer: deps.clock.after(IDLE_MS, () => expire(id)) });
    },
    find(id) {
      const known = sessions.get(id);
      if (known === undefined) return undefined;
      known.stopTimer();
      known.stopTimer = deps.clock.after(IDLE_MS, () => expire(id));
      return known.session;
    },
    usedBy: (account) => useOf(sessions.values(), account),
    end(id, file) {
      leave(id);
      files.add(id, file);
    },
    fileOf: files.get,
    drop,
  };
}

/** A request that is being read must not write to its file any more, which is closed. */
async function forget(session: UploadSession | undefined): Promise<void> {
  if (session === undefined) return;
  session.isDropped = true;
  await session.arriving.discard();
}

function useOf(sessions: Iterable<{ readonly session: UploadSession }>, account: AccountId) {
  const own = [...sessions].filter(({ session }) => session.owner.accountId === account);
  return { files: own.length, bytes: own.reduce((sum, { session }) => sum + session.receivedBytes, 0) };
}

function createPlaces() {
  const byAccount = new Map<AccountId, number>();
  let taken = 0;
  const count = (account: AccountId, change: number) => {
    const own = (byAccount.get(account) ?? 0) + change;
    if (own > 0) byAccount.set(account, own);
    else byAccount.delete(account);
    taken += change;
  };
  const give = (account: AccountId) => count(account, -1);
  return {
    /** Takes a place and does something; gives the place back where that fails. @throws AppError `service_unavailable` where none is left */
    async within<T>(account: AccountId, work: () => Promise<T>): Promise<T> {
      if ((byAccount.get(account) ?? 0) >= MOST - taken) {
        const facts = { kind: "too_many_uploads", retryAfterSec: RETRY_SEC } as const;
        throw new AppError("service_unavailable", facts, { retryAfterSec: RETRY_SEC });
      }
      count(account, 1);
      try {
        return await work();
      } catch (error) {
        give(account);
        throw error;
      }
    },
    give,
  };
}

function createEndedUploads(clock: Pick<Clock, "after">) {
  const files = new Map<string, { readonly file: UploadedFile; readonly stopTimer: () => void }>();
  const remove = (id: string) => {
    files.get(id)?.stopTimer();
    files.delete(id);
  };
  return {
    add(id: string, file: UploadedFile): void {
      const [oldest] = files.size >= MOST_ENDED ? files.keys() : [];
      if (oldest !== undefined) remove(oldest);
      files.set(id, { file, stopTimer: clock.after(IDLE_MS, () => remove(id)) });
    },
    get: (id: string) => files.get(id)?.file,
    clear: () => [...files.keys()].forEach(remove),
  };
}
