import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { type ConsoleSession, SESSION_MS } from "../domain/access/console-session.ts";
import { parseCredential } from "../domain/access/credential.ts";
import { AppError } from "../domain/errors.ts";
import type { Clock, Ids, Secrets } from "../domain/ports/runtime.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { Authenticate, AuthenticateOperator, Caller } from "./authenticate.ts";

export interface ConsoleSessionDeps {
  readonly sessions: SessionStore;
  readonly authenticate: Authenticate;
  readonly authenticateOperator: AuthenticateOperator;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "create">;
  readonly secrets: Secrets;
}

/** A new session, with the secret that its browser keeps. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: ConsoleSession;
}

/** Who a session acts as. */
export type Visitor = Awaited<ReturnType<ReturnType<typeof createConsoleSessions>["visitor"]>>;

/** Opens, checks and ends sessions of browsers. A session gets a secret of its own; the secret that opened it is not kept. */
export function createConsoleSessions(deps: ConsoleSessionDeps) {
  const { sessions, secrets, clock, ids } = deps;
  return {
    /** @throws AppError `invalid_api_key` like the authentication of the credential */
    async signIn(credential: string, caller: Caller): Promise<OpenedSession> {
      const holder =
        parseCredential(credential)?.kind === "management_token"
          ? holderOfToken(await deps.authenticateOperator(credential))
          : holderOfKey(await deps.authenticate(credential, caller));
      const secret = secrets.newBody();
      const createdAt = clock.now();
      const session: ConsoleSession = {
        ...holder,
        ...{ id: ids.create("ses"), grantHash: secrets.hash(credential), isLink: false, createdAt },
        expiresAt: createdAt + SESSION_MS,
      };
      await sessions.create(session, secrets.hash(secret));
      return { secret, session };
    },
    /** @throws AppError `invalid_api_key` if the link was used, has expired or never existed */
    async openLink(link: string): Promise<OpenedSession> {
      const secret = secrets.newBody();
      const at = clock.now();
      const opened = { hash: secrets.hash(secret), at, expiresAt: at + SESSION_MS };
      const session = await sessions.open(secrets.hash(link), opened);
      if (session === undefined) throw new AppError("invalid_api_key", { kind: "link_invalid" });
      return { secret, session };
    },
    /** For whom a browser with this secret acts. @throws AppError with which a request of the browser would be refused */
    async visitor(secret: string, caller: Caller) {
      const presented = { session: secret };
      const session = await sessions.byHash(secrets.hash(secret), clock.now());
      if (session === undefined) throw new AppError("invalid_api_key", { kind: "session_ended" });
      return session.kind === "management_token"
        ? { kind: "operator" as const, session, operator: await deps.authenticateOperator(presented) }
        : { kind: "tenant" as const, session, principal: await deps.authenticate(presented, caller) };
    },
    /** Ends the browser's own session, if it has one. */
    async end(secret: string): Promise<void> {
      const session = await sessions.byHash(secrets.hash(secret), clock.now());
      if (session !== undefined) await sessions.end(session.id);
    },
  };
}
export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

function holderOfToken({ tokenId, tokenName }: Operator) {
  return { kind: "management_token", holderId: tokenId, holderName: tokenName } as const;
}

function holderOfKey({ keyId, keyName }: Principal) {
  return { kind: "api_key", holderId: keyId, holderName: keyName } as const;
}
