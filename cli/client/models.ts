import type { JsonObject } from "../../src/domain/json.ts";

/** Reads models. */
export interface ModelCalls {
  model(id: string): Promise<JsonObject>;
  /** Also models that are not available at present. */
  allModels(): Promise<JsonObject[]>;
  anyModel(id: string): Promise<JsonObject>;
  /** With the routes of each, for a management token. */
  managedModels(): Promise<JsonObject[]>;
  managedModel(id: string): Promise<JsonObject>;
}

export function createModelCalls(get: (path: string) => Promise<JsonObject>): ModelCalls {
  const list = async (path: string): Promise<JsonObject[]> => {
    const { models } = await get(path);
    // The reader checks each member.
    return Array.isArray(models) ? (models as JsonObject[]) : [];
  };
  return {
    model: (id) => get(`/v1/models/${encodeURIComponent(id)}`),
    allModels: () => list("/v1/models?all=true"),
    anyModel: (id) => get(`/v1/models/${encodeURIComponent(id)}?all=true`),
    managedModels: () => list("/admin/v1/models"),
    managedModel: (id) => get(`/admin/v1/models/${encodeURIComponent(id)}`),
  };
}
