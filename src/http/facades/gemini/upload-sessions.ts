import { AppError } from "../../../domain/errors.ts";
import type { AccountId, FileId } from "../../../domain/ids.ts";
import type { UploadedFile } from "../../../domain/media/uploaded-file.ts";
import type { ArrivingFile, AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { FileOwner } from "../../../service/upload-file.ts";

/** An upload in several requests. It exists only in this process; after a restart, its client starts again. */
export interface UploadSession {
  readonly owner: FileOwner;
  readonly arriving: ArrivingFile;
  /** What its sender calls the file. */
  readonly name?: string | undefined;
  /** How many bytes its sender means to send. */
  readonly sizeBytes?: number | undefined;
  receivedBytes: number;
  /** Whether a request of it is being read. */
  isBusy: boolean;
  /** Once it has ended, for a sender that lost the answer. */
  file?: UploadedFile | undefined;
}

export interface UploadSessions {
  /** @throws AppError `service_unavailable` where the account, or all, have too many */
  open(
    id: FileId,
    session: Omit<UploadSession, "receivedBytes" | "isBusy" | "file" | "arriving">,
  ): Promise<void>;
  /** The session of this id, which then lives on for a while. */
  find(id: string): UploadSession | undefined;
  /** Forgets a session, and what it has received. */
  drop(id: string): Promise<void>;
}

const IDLE_MS = 10 * 60_000;
const MOST_OF_ACCOUNT = 16;
const MOST = 256;
const RETRY_SEC = 10;

export function createUploadSessions(deps: {
  readonly assets: Pick<AssetStore, "receive">;
  readonly clock: Pick<Clock, "after">;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}): UploadSessions {
  const sessions = new Map<string, { readonly session: UploadSession; stopTimer: () => void }>();

  const countOf = (account: AccountId) =>
    [...sessions.values()].filter(({ session }) => session.owner.accountId === account).length;

  async function drop(id: string): Promise<void> {
    const known = sessions.get(id);
    if (known === undefined) return;
    known.stopTimer();
    sessions.delete(id);
    if (known.session.file === undefined) await known.session.arriving.discard();
  }

  const dropAll = () => void Promise.all([...sessions.keys()].map(drop));

  /** One that is being read is not idle. */
  function end(id: string): void {
    const known = sessions.get(id);
    if (known === undefined) return;
    if (known.session.isBusy) known.stopTimer = deps.clock.after(IDLE_MS, () => end(id));
    else void drop(id);
  }

  return {
    async open(id, given) {
      if (sessions.size >= MOST || countOf(given.owner.accountId) >= MOST_OF_ACCOUNT) {
        const facts = { kind: "too_many_uploads", retryAfterSec: RETRY_SEC } as const;
        throw new AppError("service_unavailable", facts, { retryAfterSec: RETRY_SEC });
      }
      const session = { ...given, arriving: await deps.assets.receive(), receivedBytes: 0, isBusy: false };
      if (sessions.size === 0) deps.stopping.addEventListener("abort", dropAll, { once: true });
      sessions.set(id, { session, stopTimer: deps.clock.after(IDLE_MS, () => end(id)) });
    },
    find(id) {
      const known = sessions.get(id);
      if (known === undefined) return undefined;
      known.stopTimer();
      known.stopTimer = deps.clock.after(IDLE_MS, () => end(id));
      return known.session;
    },
    drop,
  };
}
