import type { KeyId, SessionId, TokenId } from "../ids.ts";
import type { CredentialKind } from "./credential.ts";

/** How long a session lasts, unless its key or token is refused sooner. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
/** How long a link to the console may wait for its one use. */
export const LINK_MS = 30 * 60 * 1000;

/**
 * A browser that acts as an API key or a management token without keeping the secret. A link is a session that no browser has
 * opened yet.
 */
export interface ConsoleSession {
  readonly id: SessionId;
  readonly kind: CredentialKind;
  /** Hash of the key or token that is looked up at each request. */
  readonly grantHash: string;
  readonly holderId: KeyId | TokenId;
  /** The name of the key or token when the session began. */
  readonly holderName: string;
  readonly isLink: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** The name of the token that a link's session acts as, which is made for it alone. */
export function linkTokenName(id: SessionId): string {
  return `console ${id.slice(-12)}`;
}

/** A session as operators see it: times in Unix seconds. */
export function sessionForm(session: Omit<ConsoleSession, "grantHash">) {
  return {
    id: session.id,
    state: session.isLink ? "link" : "open",
    role: session.kind === "api_key" ? "tenant" : "operator",
    holder: { id: session.holderId, name: session.holderName },
    created_at: Math.floor(session.createdAt / 1000),
    expires_at: Math.floor(session.expiresAt / 1000),
  } as const;
}

/**
 * The address that opens the console once. Browsers do not send the part after `#`, so it is in no log. @param origin of the
 * service
 */
export function consoleLink(origin: string, secret: string): string {
  return `${origin}/console#link=${secret}`;
}
