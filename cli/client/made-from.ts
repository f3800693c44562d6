import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import type { Call } from "./exchange.ts";

type Ask = (request: Call) => Promise<{ readonly data: JsonObject; readonly headers: Headers }>;

/** A file that is uploaded before any task. */
export interface FileToUpload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly name?: string | undefined;
}

/** A page of a listing whose items are under this name. */
export function pageOf(data: JsonObject, name: string) {
  const items: Json | undefined = data[name];
  return {
    items: Array.isArray(items) ? items.filter(isJsonObject) : [],
    next: typeof data.next === "string" ? data.next : null,
  };
}

export type PageQuery = { readonly limit: string | undefined; readonly after: string | undefined };

/** The path of one page. */
export function pathWith(path: string, query: PageQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** What tasks are made from: files that were uploaded, and other tasks. */
export function madeFromCalls(call: Ask) {
  const taskPath = (id: string) => `/v1/tasks/${encodeURIComponent(id)}`;
  const page = async (path: string, name: string, query: PageQuery) => {
    return pageOf((await call({ method: "GET", path: pathWith(path, query) })).data, name);
  };
  return {
    upload: async ({ bytes, name }: FileToUpload) => {
      const query = name === undefined ? "" : `?${new URLSearchParams({ name })}`;
      const idempotencyKey = crypto.randomUUID();
      return (await call({ method: "POST", path: `/v1/files${query}`, content: bytes, idempotencyKey })).data;
    },
    files: (query: PageQuery) => page("/v1/files", "files", query),
    removeFile: async (id: string) =>
      void (await call({ method: "DELETE", path: `/v1/files/${encodeURIComponent(id)}` })),
    /** Makes a task with the same request and other seeds. */
    vary: async (id: string, count: number, idempotencyKey: string) =>
      (await call({ method: "POST", path: `${taskPath(id)}/variations`, body: { count }, idempotencyKey }))
        .data,
    /** Makes a task of a task's result. */
    followUp: (id: string, verb: "extend" | "upscale", body: JsonObject, idempotencyKey: string) =>
      call({ method: "POST", path: `${taskPath(id)}/${verb}`, body, idempotencyKey }),
    /** Some of a task's family. */
    tree: (id: string, query: PageQuery) => page(`${taskPath(id)}/tree`, "tasks", query),
  };
}
