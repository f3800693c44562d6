import type { ModelId } from "../../../domain/ids.ts";
import type { GenerationRequest, TaskKind } from "../../../domain/task/request.ts";
import { parse } from "../raw-row.ts";

/** A request without what its task says in columns, and without an empty list of inputs. */
export type StoredRequest = Omit<GenerationRequest, "kind" | "model" | "inputs"> &
  Partial<Pick<GenerationRequest, "inputs">>;

/** The text of a request as it is stored. What is undefined is not in it; a copy without some members would take three times as long. */
export function storedRequestText(request: GenerationRequest): string {
  const inputs = request.inputs.length === 0 ? undefined : request.inputs;
  return JSON.stringify({ ...request, kind: undefined, model: undefined, inputs });
}

/** The request of a task, from its columns. */
export function requestIn(row: {
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly request: string;
}): GenerationRequest {
  return { kind: row.kind, model: row.model, inputs: [], ...parse<StoredRequest>(row.request) };
}
