import type { Secrets } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { WebhookSigning } from "./signing.ts";

/** What any form of webhooks is made with. */
export interface FormDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf">;
  readonly secrets: Pick<Secrets, "sign" | "hash">;
  readonly signing: WebhookSigning;
}
