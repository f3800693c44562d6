import type { Callback, CallbackSend } from "../../../domain/callback/callback.ts";
import type { AccountId, CallbackId } from "../../../domain/ids.ts";
import { type Session, statement } from "../session.ts";

type Named = Pick<CallbackSend, "sequence"> & { readonly callback: Pick<Callback, "id"> };

interface OpenSend {
  readonly callback_id: CallbackId;
  readonly sequence: number;
  readonly accountId: AccountId;
  readonly host: string;
}

const OPEN_SINCE = statement<OpenSend, [since: number]>(
  `select callback_id, sequence, account_id as "accountId", host
   from callback_attempt join callback on callback.id = callback_id where ended_at is null and started_at > $1`,
);

export type OwnSends = ReturnType<typeof createOwnSends>;

/** Distinguishes the sends that this process has begun from those of others. */
export function createOwnSends() {
  const own = new Set<string>();
  const name = ({ callback, sequence }: Named) => `${callback.id} ${sequence}`;
  return {
    begun(sends: readonly Named[]): void {
      for (const send of sends) own.add(name(send));
    },
    ended: (send: Named): void => void own.delete(name(send)),
    /** What other processes are sending. Sends that were begun before `since` count as lost. */
    async ofOthers(session: Session, since: number): Promise<Pick<Callback, "accountId" | "host">[]> {
      const open = await OPEN_SINCE.all(session, since);
      return open.filter(({ callback_id: id, sequence }) => !own.has(name({ callback: { id }, sequence })));
    },
  };
}
