import type { Act } from "../access/actor.ts";
import type { ConsoleSession } from "../access/console-session.ts";
import type { AtHand } from "../at-hand.ts";
import type { SessionId } from "../ids.ts";

/** Sessions of the console. Their secrets are kept as hashes. Every method is one transaction. */
export interface SessionStore {
  /**
   * Also forgets some sessions that have expired, with the tokens that were made for them alone, and the oldest of a key or token that
   * has more than a hundred. @param hash of the session's or the link's secret
   */
  create(session: ConsoleSession, hash: string): Promise<void>;
  /**
   * Turns a link into an open session, once.
   *
   * @returns undefined if the secret opens no link now
   */
  open(
    linkHash: string,
    opened: { readonly hash: string; readonly at: number; readonly expiresAt: number },
  ): Promise<ConsoleSession | undefined>;
  /** The session or link whose secret has this hash, expired or not; with the same promises as `AccountStore.grantByHash`. */
  byHash(hash: string, now: number): AtHand<ConsoleSession | undefined>;
  /** Sessions that have not expired, those of management tokens before those of keys, the latest to expire first; a thousand at most. */
  all(now: number): Promise<ConsoleSession[]>;
  /** Also forgets the token that was made for it alone, if there is one. @param act an operator's act, for the trail */
  end(id: SessionId, act?: Act): Promise<"ended" | "not_found">;
}
