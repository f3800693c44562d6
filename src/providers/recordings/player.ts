import { type Egress, EgressError } from "../../domain/ports/egress.ts";
import { type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Network, Sending } from "../kit/network.ts";
import { atOnce } from "./at-once.ts";
import { taped } from "./calls.ts";
import { type Asked, canonical } from "./canonical.ts";
import type { Context } from "./context.ts";
import type { Library } from "./library.ts";
import { answerOf } from "./played.ts";
import { createSessions } from "./sessions.ts";

export interface PlayerDeps {
  readonly library: Library;
  readonly context: Context;
  readonly clock: Clock;
}

/** Answers from recordings, without any network. */
export function createPlayer({ library, context, clock }: PlayerDeps) {
  const sessions = createSessions(library);
  return {
    network: {
      isPlayed: true,
      async send(sending) {
        const current = context.current();
        if (current === undefined) throw new Error("nothing leaves this machine in a replay");
        const asked = await askedBy(sending, current.account?.lane, clock.now());
        const { cursor, exchange } = orElse(() => sessions.next(current.task, asked), failed);
        return await answerOf(library, exchange, { init: sending.init, ids: cursor.ids });
      },
    } satisfies Network,
    fetchMedia: (async (url: string) => {
      const current = context.current();
      if (current === undefined) throw new EgressError("forbidden", "is not fetched in a replay");
      const request = { use: "file", method: "GET", url, headers: {}, atMs: clock.now() } as const;
      const asked = await canonical(request);
      const { exchange } = orElse(
        () => sessions.next(current.task, asked),
        (why) => new EgressError("bad_status", why),
      );
      const { none } = exchange;
      if (none !== undefined) throw new EgressError(none.reason ?? "unreachable", none.why);
      const answer = await answerOf(library, exchange, { init: {}, ids: new Map() });
      return answer.body ?? new Blob([]).stream();
    }) as Egress["fetchMedia"],
    /** An adapter whose calls are answered at once, each by its account. */
    adapter: (adapter: ProviderAdapter): ProviderAdapter => taped(atOnce(adapter), context, () => {}),
    /** Forgets how far a task is: it has ended. */
    ended: sessions.end,
  };
}

/** What no recording answers ends the task at once, and says why. */
function failed(why: string): ProviderError {
  return new ProviderError("fail", "UPSTREAM_ERROR", why, { publicMessage: why });
}

function orElse<T>(work: () => T, otherwise: (why: string) => Error): T {
  try {
    return work();
  } catch (error) {
    throw otherwise(error instanceof Error ? error.message : String(error));
  }
}

function askedBy({ unsigned, use }: Sending, lane: string | undefined, atMs: number): Promise<Asked> {
  const { method, url, headers, body } = unsigned;
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const request = { use, method, url: url.href, headers: Object.fromEntries(named), body: body?.bytes };
  return canonical({ ...request, lane, atMs });
}
