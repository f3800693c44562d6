import type { Config } from "../../config/config.ts";
import { CURRENCY, formatAmount, toMicros } from "../../domain/money/money.ts";
import type { LiveLane } from "../../store/inspection.ts";
import { openLocalProviders } from "../local-providers.ts";
import { type Finding, quoted, warn } from "./finding.ts";

/** Accepted tasks whose provider, or account there, is not switched on with these settings: they wait, and money is held for them. */
export async function waitingChecks(liveLanes: readonly LiveLane[], config: Config): Promise<Finding[]> {
  if (liveLanes.length === 0 || config.replay !== undefined) return [];
  const { providers } = await openLocalProviders(config, { isReadOnly: true }).list();
  const on = new Set<string>(providers.flatMap(({ accounts }) => accounts.map(({ lane }) => lane)));
  return liveLanes
    .filter(({ lane }) => !on.has(lane))
    .map(({ lane, tasks, held }) => {
      const [id = lane] = lane.split("/");
      const isKnown = providers.some((each) => each.id === id);
      const advice = isKnown
        ? `\`svc providers show ${id}\` says what it needs.`
        : `Put providers/${id}.yaml back.`;
      const text = `${tasks} accepted ${tasks === 1 ? "task waits" : "tasks wait"} for ${quoted(lane)}, which is not switched on with these settings and variables; ${formatAmount(toMicros(held))} ${CURRENCY} is held meanwhile.`;
      return warn(
        "tasks_waiting",
        text,
        `${advice} Or find and end them: svc task list --all-accounts; svc task cancel TASK --all-accounts`,
      );
    });
}
