import type { CallbackEvent } from "../../../domain/callback/callback.ts";
import { SIGNING_PREFIX, signatureHeaders, signingSecretsAt } from "../../../domain/callback/signature.ts";
import type { AccountId } from "../../../domain/ids.ts";
import type { CallbackForm, ToldEvent } from "../../../domain/ports/callback-forms.ts";
import type { Seal, Secrets } from "../../../domain/ports/runtime.ts";
import type { Task } from "../../../domain/task/task.ts";
import type { AskedCallback } from "../../../service/asked-callback.ts";
import { createTellPrediction, type PredictionDeps } from "./present.ts";
import type { WebhookEvent } from "./read-request.ts";
import { streamPathOf } from "./stream.ts";

/** By this name tasks are stored whose webhooks are worded so. */
const FORM = "replicate";

/** What each of that API's events is here. Files come when a task has completed, and with them its output. */
const EVENTS: Readonly<Record<WebhookEvent, readonly CallbackEvent[]>> = {
  start: ["started"],
  output: ["completed"],
  logs: ["progressed"],
  completed: ["completed", "failed", "cancelled"],
};
/** Where a caller does not say what it wants to be told. */
const USUAL: readonly WebhookEvent[] = ["output", "completed"];

/** About a minute in all: receivers of that API know a few repeats. */
const DELAYS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/** How a prediction's address is told of it. No events at all are no webhook. */
export function callbackFor(url: string, events: readonly WebhookEvent[] = USUAL): AskedCallback | undefined {
  const told = [...new Set(events.flatMap((event) => EVENTS[event]))];
  return told.length === 0 ? undefined : { url, form: FORM, events: told, attempts: DELAYS_MS.length + 1 };
}

/** The secret that an account's webhooks are signed with, whichever of its keys made the prediction. The same as long as the service's key is. */
export function defaultSecret(seal: Pick<Seal, "sign">, account: AccountId): string {
  const bytes = Buffer.from(seal.sign(`replicate webhooks ${account}`), "base64url");
  return SIGNING_PREFIX + bytes.toString("base64");
}

export interface ReplicateFormDeps extends Omit<PredictionDeps, "streamPath"> {
  readonly secrets: Pick<Secrets, "hash" | "sign">;
  readonly seal: Pick<Seal, "sign">;
}

/** Webhooks as Replicate sends them: the prediction, signed by Standard Webhooks. */
export function createReplicateForm(deps: ReplicateFormDeps): CallbackForm {
  const tell = createTellPrediction({ ...deps, streamPath: streamPathOf(deps.seal) });
  return {
    delaysMs: DELAYS_MS,
    isSignedByKey: true,
    async body(told) {
      return (await tell(asToldOf(told), told.origin))?.text ?? "{}";
    },
    headers({ id, task, at, body, kept }) {
      // A key's own secrets sign too: its owner may have given one of them to a receiver before.
      const all = [
        defaultSecret(deps.seal, task.accountId),
        ...(kept === undefined ? [] : signingSecretsAt(kept, at)),
      ];
      const signed = all.map((secret) => signatureHeaders(deps.secrets, secret, { id, at, body }));
      const signatures = signed.map((headers) => headers["webhook-signature"]).join(" ");
      return { ...signed[0], "webhook-signature": signatures };
    },
  };
}

/** A task that has gone on since: as it was when that happened, as far as it is known. */
function asToldOf({ task, event }: ToldEvent): Task {
  if (event !== "started" && event !== "progressed") return task;
  const { error: _, completedAt: __, ...others } = task;
  const progress = event === "started" ? 0 : Math.min(task.progress, 99);
  return { ...others, status: "processing", results: [], progress };
}
