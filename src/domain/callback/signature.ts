import type { CallbackId, TaskId } from "../ids.ts";
import type { Secrets } from "../ports/runtime.ts";

/** The prefix of every secret that signs callbacks. */
export const SIGNING_PREFIX = "whsec_";
/** The fewest and most bytes of a secret. */
const SIGNING_SECRET_BYTES = { least: 24, most: 64 } as const;

/** The secret with which a key signs its callbacks from now on. */
export interface SigningChange {
  /** One that `isSigningSecret` takes. */
  readonly secret: string;
  /** Until when the replaced secret also signs. Absent: it stops at once. */
  readonly previousUntil?: number | undefined;
}

/** The prefix and base64 as an encoder writes it: padded, and with no bits left over that two decoders could read differently. */
const SIGNING_SECRET =
  /^whsec_((?:[A-Za-z0-9+/]{4})*)([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

/** Whether a text is a secret of Standard Webhooks: the prefix and 24 to 64 bytes in base64. */
export function isSigningSecret(text: string): boolean {
  const [, whole, rest = ""] = SIGNING_SECRET.exec(text) ?? [];
  if (whole === undefined) return false;
  const sizeBytes = (whole.length / 4) * 3 + rest.replace(/=+$/, "").length * 0.75;
  const { least, most } = SIGNING_SECRET_BYTES;
  return Math.floor(sizeBytes) >= least && Math.floor(sizeBytes) <= most;
}

/**
 * What is stored about a key's signing secrets after a change, separated by spaces: the secret and, while the previous one also
 * signs, that one and until when (epoch milliseconds). Setting the current secret again does not end the previous one early.
 */
export function changeSigning(kept: string | undefined, { secret, previousUntil }: SigningChange): string {
  const [before] = kept?.split(" ") ?? [];
  if (kept === undefined || before === undefined || previousUntil === undefined) return secret;
  return before === secret ? kept : `${secret} ${before} ${previousUntil}`;
}

/** The stored secrets that sign at a given time: one, or two for a while after a change. The newest comes first. */
export function signingSecretsAt(kept: string, at: number): readonly string[] {
  const [secret = "", previous, until] = kept.split(" ");
  return previous !== undefined && at < Number(until) ? [secret, previous] : [secret];
}

/**
 * The signature headers of a callback: Standard Webhooks 1.0
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, checked 2026-11-21).
 *
 * @param kept the stored secrets (`changeSigning`); each one that is valid at the time signs
 * @param message.id the same for every send of a callback, so that receivers recognise repetitions
 * @param message.at when this send leaves; receivers refuse old ones
 */
export function signatureHeaders(
  secrets: Pick<Secrets, "sign">,
  kept: string,
  message: { readonly id: CallbackId | TaskId; readonly at: number; readonly body: string },
): { [name: string]: string } {
  const timestamp = String(Math.floor(message.at / 1000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = signingSecretsAt(kept, message.at).map((secret) => `v1,${secrets.sign(secret, signed)}`);
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
