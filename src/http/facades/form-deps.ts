import type { Catalog } from "../../domain/ports/catalog.ts";
import type { Seal, Secrets } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { WebhookSigning } from "./signing.ts";

/** The dependencies of every form of webhooks. */
export interface FormDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf" | "summary">;
  readonly secrets: Pick<Secrets, "sign" | "hash">;
  readonly signing: WebhookSigning;
  readonly catalog: Pick<Catalog, "find">;
  readonly seal: Pick<Seal, "sign">;
}
