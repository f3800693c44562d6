import type { JsonObject } from "../../../domain/json.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { OWNER } from "../models.ts";
import type { ModelPageDeps } from "./models.ts";
import { namedModel, versionOf } from "./versions.ts";

/** The one piece of hardware that there is. The provider decides where a task is made. */
export const HARDWARE_ENTRY = { name: "As the model's provider has it", sku: "provider" } as const;

/**
 * A model as a deployment of that API, whose clients read one before they create a prediction by it. It has one release: the model as it
 * is defined now.
 * @throws AppError as `readModel`
 */
export function oneDeployment(deps: ModelPageDeps, { principal, param }: KeyedExchange): JsonObject {
  const [owner, name] = [param("owner"), param("name")];
  const { model } = namedModel(deps, principal, `${owner}/${name}`);
  return {
    ...{ owner, name },
    current_release: {
      number: 1,
      model: `${OWNER}/${model.id}`,
      version: versionOf(deps, model),
      created_at: new Date(deps.startedAt).toISOString(),
      created_by: null,
      configuration: { hardware: HARDWARE_ENTRY.sku, min_instances: 0, max_instances: 1 },
    },
  };
}
