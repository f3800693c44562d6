import { isJsonObject } from "../../domain/json.ts";
import { MAX_HOOK_BYTES } from "../../domain/limits.ts";
import { HOOK_PATH, type TakeHook } from "../../service/hooks.ts";
import type { Endpoint } from "../exchange.ts";
import type { Intake } from "../ingress/incoming.ts";
import { json } from "../reply.ts";
import { TAKE_HOOK } from "./wire.ts";

/** Some upstreams first send a text, and use the address after they get it back. */
const MOST_CHALLENGE = 1024;

/** POST from an upstream whose job has changed. The token is checked before the body is read. */
export function hookEndpoints({ takeHook }: { readonly takeHook: TakeHook }): Endpoint[] {
  return [
    {
      method: "POST",
      path: `${HOOK_PATH}:token`,
      contract: TAKE_HOOK,
      access: "public",
      logLevel: "debug",
      isSecret: true,
      async handle({ request, param, intake }) {
        const attempt = takeHook.attemptOf(param("token"));
        const body = await readBody(intake);
        const challenge = challengeIn(body);
        if (challenge !== undefined) return json({ challenge });
        const header = (name: string) => request.headers.get(name) ?? undefined;
        await takeHook.take(attempt, { header, body });
        return json({});
      },
    },
  ];
}

/** @throws AppError `request_too_large` */
async function readBody(intake: Intake): Promise<Uint8Array> {
  const small = intake.small();
  if (small !== undefined) return small;
  return intake.receive(MAX_HOOK_BYTES, async (body) => {
    const pieces: Buffer[] = [];
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
      body.take(piece.length);
      pieces.push(Buffer.from(piece));
    }
    return Buffer.concat(pieces);
  });
}

function challengeIn(body: Uint8Array): string | undefined {
  if (body.length > 2 * MOST_CHALLENGE) return undefined;
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(body));
    const challenge = isJsonObject(said) ? said.challenge : undefined;
    return typeof challenge === "string" && challenge.length <= MOST_CHALLENGE ? challenge : undefined;
  } catch {
    // Whatever else it is, it is no challenge.
    return undefined;
  }
}
