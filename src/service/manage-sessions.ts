import { type ConsoleSession, LINK_MS, linkTokenName, SESSION_MS } from "../domain/access/console-session.ts";
import { isId } from "../domain/ids.ts";
import { tokenVerbs } from "./manage-tokens.ts";
import { actNow, type ManageAccountDeps, notFound } from "./management.ts";

/** A link to the console. `secret` opens it once; nothing can show it again. */
export interface NewLink {
  readonly secret: string;
  readonly session: ConsoleSession;
}

/** The part of `ManageAccounts` for sessions of the console. */
export const sessionVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Makes a link for the actor, and a management token for the session. Nobody sees the token itself. It may do what its maker
   * may, and does not outlive it.
   */
  async createConsoleLink(): Promise<NewLink> {
    const { clock, ids, secrets, sessions, actor } = deps;
    const now = clock.now();
    const id = ids.create("ses");
    const longest = now + LINK_MS + SESSION_MS;
    const makerUntil = actor.kind === "token" ? actor.expiresAt : undefined;
    const { record } = await tokenVerbs(deps).createToken({
      name: linkTokenName(id),
      expiresAt: Math.min(longest, makerUntil ?? longest),
    });
    const secret = secrets.newBody();
    const session: ConsoleSession = {
      ...{ id, kind: "management_token", isLink: true, createdAt: now, expiresAt: now + LINK_MS },
      ...{ grantHash: record.hash, holderId: record.id, holderName: record.name },
    };
    await sessions.create(session, secrets.hash(secret));
    return { secret, session };
  },
  /** Sessions and links that have not expired, operators' before tenants', the latest to expire first. */
  listSessions: (): Promise<ConsoleSession[]> => deps.sessions.all(deps.clock.now()),
  /** @throws AppError `not_found` */
  async endSession(id: string): Promise<void> {
    const isEnded = isId("ses", id) && (await deps.sessions.end(id, actNow(deps))) === "ended";
    if (!isEnded) notFound("session", id);
  },
});
