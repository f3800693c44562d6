import type { JsonObject } from "../json.ts";
import type { AccountTrouble } from "./availability.ts";
import type { Standing } from "./standing.ts";

/** The standing of a route at an account, in epoch seconds. */
export function standingForm({ state, detail, since, until }: Standing): JsonObject {
  return {
    state,
    ...(detail !== undefined && { detail }),
    ...(since !== undefined && { since: Math.floor(since / 1000) }),
    ...(until !== undefined && { until: Math.ceil(until / 1000) }),
  };
}

/** What keeps tasks away from a route, at every account or at some. */
export function troublesForm({
  refused: { detail, since } = {},
  troubles,
}: {
  readonly refused?: Pick<Standing, "detail" | "since"> | undefined;
  readonly troubles: readonly AccountTrouble[];
}): JsonObject {
  return {
    ...(detail !== undefined && { refused: detail }),
    ...(since !== undefined && { refused_since: Math.floor(since / 1000) }),
    ...(troubles.length > 0 && {
      troubles: troubles.map(({ lane, ...standing }) => ({ account: lane, ...standingForm(standing) })),
    }),
  };
}
