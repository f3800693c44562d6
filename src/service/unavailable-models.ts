import type { ModelId } from "../domain/ids.ts";
import { type NeedsOf, needsText, routeStates } from "../domain/model/availability.ts";
import type { Model } from "../domain/model/model.ts";
import type { Log } from "../domain/ports/runtime.ts";

/** Called when a caller names a model that none of its providers makes at present. */
export type TellUnavailable = (model: Model) => void;

type UnavailableDeps = { readonly log: Pick<Log, "warn">; readonly needsOf: NeedsOf };

/** Logs for the operator, once for each model, what would make it available. */
export function createTellUnavailable({ log, needsOf }: UnavailableDeps): TellUnavailable {
  const told = new Set<ModelId>();
  return (model) => {
    if (told.has(model.id)) return;
    told.add(model.id);
    const needs = needsText(routeStates(model, needsOf));
    log.warn({ model: model.id, needs }, `a request was refused: ${model.id} is not available; set ${needs}`);
  };
}
