import { type Egress, EgressError } from "../../domain/ports/egress.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import type { Network } from "../kit/network.ts";
import { type Asked, canonical, firstDifference } from "./canonical.ts";
import type { Exchange, Library } from "./library.ts";
import { answerOf } from "./played.ts";

/** Answers what one call of an adapter asks by what it exchanged when it was recorded, and notes what does not fit. */
export function playCall(
  library: Pick<Library, "content">,
  recorded: readonly Exchange[],
  { lane, atMs }: { readonly lane: string; readonly atMs: number },
) {
  const left = recorded.filter(({ use }) => use !== "token");
  const misses: string[] = [];

  /** @throws Error that says what is recorded in its place */
  function take(asked: Asked): Exchange {
    const i = left.findIndex((each) => each.asked?.key === asked.key);
    const [found] = i === -1 ? [] : left.splice(i, 1);
    if (found !== undefined) return found;
    const miss = missOf(asked, left[0]);
    misses.push(miss);
    throw new Error(miss);
  }

  return {
    misses,
    /** What was not asked for. */
    left: (): readonly Exchange[] => left,
    network: {
      isPlayed: true,
      async send({ unsigned, use, init }) {
        const { method, url, headers, body } = unsigned;
        const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
        const request = { method, url: url.href, headers: Object.fromEntries(named), body: body?.bytes };
        const asked = await canonical({ ...request, ...{ lane, use, atMs } });
        try {
          return await answerOf(library, take(asked), { init, ids: new Map() });
        } catch (error) {
          if (misses.length === 0) throw error;
          throw new ProviderError("fail", "UPSTREAM_ERROR", String(error));
        }
      },
    } satisfies Network,
    fetchPublic: (async (url) => {
      const asked = await canonical({ ...{ use: "file", method: "GET", url, headers: {} }, atMs });
      const exchange = take(asked);
      const { none } = exchange;
      if (none !== undefined) throw new EgressError(none.reason ?? "unreachable", none.why);
      const { body } = await answerOf(library, exchange, { init: {}, ids: new Map() });
      return body ?? new Blob([]).stream();
    }) as Egress["fetchMedia"],
  };
}

function missOf({ shape }: Asked, nearest: Exchange | undefined): string {
  const what = `${String(shape.method)} ${String(shape.url)}`;
  const difference = nearest && firstDifference(nearest.asked?.shape, shape);
  if (nearest === undefined || difference === undefined) return `asks for ${what}, which was not asked then`;
  return `asks for ${what}, not as in line ${nearest.line}: ${difference}`;
}
