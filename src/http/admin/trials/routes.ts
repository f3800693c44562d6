import { type TriedCheck, triedForm } from "../../../domain/moderation/tried-check.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { MODERATION_TEST, TRIALS } from "./wire.ts";

interface TrialEndpointDeps {
  /** @throws AppError `invalid_request` for a name that no check has */
  readonly tryChecks: (text: string, names: readonly string[] | undefined) => Promise<readonly TriedCheck[]>;
  /** Sends a test alert to every target. @returns the result for each */
  readonly testAlerts: () => Promise<
    readonly { readonly to: string; readonly on: readonly string[]; readonly error: string | undefined }[]
  >;
}

/** POST /admin/v1/moderation/test and /admin/v1/alerts/test. */
export function trialEndpoints({ tryChecks, testAlerts }: TrialEndpointDeps): Endpoint[] {
  return [
    managed("POST", "/admin/v1/moderation/test", TRIALS.moderation, async (exchange) => {
      const { text, checks } = await readBody<{ text: string; checks?: string[] }>(exchange, MODERATION_TEST);
      return success(triedForm(await tryChecks(text, checks)));
    }),
    managed("POST", "/admin/v1/alerts/test", TRIALS.alerts, async () => {
      const tried = await testAlerts();
      const targets = tried.map(({ to, on, error }) => ({
        ...{ to, on: [...on], sent: error === undefined, error: error ?? null },
      }));
      return success({ targets });
    }),
  ];
}
