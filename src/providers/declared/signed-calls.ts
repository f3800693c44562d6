import type { Egress } from "../../domain/ports/egress.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { isSignedWith, verifyBy, verifyEd25519 } from "../kit/signed-calls.ts";
import type { CompiledForm } from "./compiled-form.ts";
import type { Connection } from "./connection.ts";
import type { Form } from "./form.ts";
import { answerScope, textIn } from "./reading.ts";

interface Opened {
  readonly compiled: CompiledForm;
  readonly connection: Connection;
}

/**
 * How calls of an upstream are verified; undefined where they are not signed.
 *
 * @param isOwnBase whether the account is where the form says. Public keys are those of that place
 */
export function verifyDeclared(
  { webhook: { standard, ed25519 } = {} }: Form,
  deps: {
    readonly clock: Pick<Clock, "elapsed">;
    readonly fetchPublic?: Egress["fetchMedia"] | undefined;
    readonly isOwnBase: boolean;
  },
  open: () => Opened,
): ProviderAdapter["verifyHook"] {
  const { fetchPublic, clock, isOwnBase } = deps;
  if (standard !== undefined) return verifyBy(clock, (signal) => secretOf(open(), signal), isSignedWith);
  if (ed25519 === undefined || fetchPublic === undefined || !isOwnBase) return undefined;
  return verifyEd25519(ed25519, { fetchPublic, clock });
}

/** The account's own key opens the secret. It is kept out of every text. */
async function secretOf({ compiled, connection }: Opened, signal: AbortSignal): Promise<string | undefined> {
  const { webhookSecret } = compiled;
  if (webhookSecret === undefined) return undefined;
  const answer = await connection.ask(webhookSecret.call, {}, {}, signal);
  if (!connection.isOk(answer)) return undefined;
  const secret = textIn(webhookSecret.secret, { ...connection.scope, ...answerScope(answer) });
  if (secret === undefined || secret === "") return undefined;
  connection.upstream.keepSecret(secret);
  return secret;
}
