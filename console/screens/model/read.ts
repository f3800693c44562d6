import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Rule } from "../playground/schema.ts";

export type Model = Omit<Schemas["ManagedModelInFull"], "schema"> & { readonly schema: Rule };
export type Route = Model["routes"][number];
export type Price = Schemas["ManagedPrice"];
export type PriceLine = Price["price"]["lines"][number];
export type Manifest = Schemas["Manifest"];

/** What no id of a model can be: the screen of it writes a new one. */
export const NEW = "~new";

export interface Known {
  /** Absent while the server has not taken its file up, or cannot. */
  readonly made?: { readonly model: Model; readonly price: Price } | undefined;
  /** Its file, where it is one of the operator's own. */
  readonly manifest?: Manifest | undefined;
}

/** @throws ApiProblem for what is neither a model nor a file of one */
export async function readKnown(id: string, signal?: AbortSignal): Promise<Known> {
  const path = { path: { model: id } };
  try {
    const [model, price] = await Promise.all([
      ask("GET /admin/v1/models/{model}", path, { signal }),
      ask("GET /admin/v1/pricing/{model}", path, { signal }),
    ]);
    const manifest = model.file === undefined ? undefined : await readManifest(id, signal);
    // The schema is what the service checks bodies with: a JSON Schema.
    return { made: { model: model as Model, price }, manifest };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const manifest = await readManifest(id, signal);
    if (manifest === undefined) throw error;
    return { manifest };
  }
}

/** The file of an own model; undefined where there is none. @throws ApiProblem */
export async function readManifest(id: string, signal?: AbortSignal): Promise<Manifest | undefined> {
  try {
    return await ask("GET /admin/v1/models/{model}/manifest", { path: { model: id } }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404;
}
