import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { UploadStore } from "../../domain/ports/upload-store.ts";
import type { RemoveTaskDeps } from "../../service/remove-task.ts";
import { checkUploadKey, type UploadOnceDeps, uploadOnce } from "../../service/upload-once.ts";
import { listUploads, readUpload, removeUpload } from "../../service/uploaded-files.ts";
import { counted, type Endpoint, type KeyedExchange, keyed, polled } from "../exchange.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { type Reply, success } from "../reply.ts";
import { requireStanding } from "../standing.ts";
import { checkQuery } from "../wire/check.ts";
import { presentFile } from "./present.ts";
import { receiveFile } from "./read-upload.ts";
import { DELETE_FILE, FILES_QUERY, LIST_FILES, READ_FILE, UPLOAD_FILE } from "./wire.ts";

export interface FileEndpointDeps extends UploadOnceDeps, Omit<RemoveTaskDeps, "assets"> {
  readonly uploads: UploadStore;
  readonly assets: Pick<AssetStore, "stage" | "removeUnheld">;
}

/** Files that accounts upload before any task (docs/api.md 7.1). */
export function fileEndpoints(deps: FileEndpointDeps): Endpoint[] {
  return [
    counted("/v1/files", UPLOAD_FILE, (exchange) => upload(deps, exchange), "creates"),
    polled("/v1/files", LIST_FILES, (exchange) => list(deps, exchange), "lists"),
    polled("/v1/files/:file_id", READ_FILE, async ({ principal, param, origin }) => {
      return success(presentFile(await readUpload(deps, principal, param("file_id")), origin));
    }),
    keyed("DELETE", "/v1/files/:file_id", DELETE_FILE, {}, async ({ principal, param }) => {
      return success({ file_id: await removeUpload(deps, principal, param("file_id")), deleted: true });
    }),
  ];
}

async function upload(deps: FileEndpointDeps, exchange: KeyedExchange): Promise<Reply> {
  const key = idempotencyKeyOf(exchange.request);
  checkUploadKey(key);
  const { staged, name } = await receiveFile(deps, exchange);
  try {
    requireStanding(exchange.standing);
  } catch (error) {
    await staged.release(false);
    throw error;
  }
  const given = { owner: exchange.principal, staged, name, field: "file" };
  const { file, replayed } = await uploadOnce(deps, given, key);
  const headers = replayed ? { "X-Idempotent-Replay": "true" } : undefined;
  return success(presentFile(file, exchange.origin), headers);
}

async function list(deps: FileEndpointDeps, { principal, query, origin }: KeyedExchange): Promise<Reply> {
  const { limit = 20, after } = checkQuery(FILES_QUERY, query()) as { limit?: number; after?: string };
  const { files, next } = await listUploads(deps, principal, { limit, after });
  return success({ files: files.map((file) => presentFile(file, origin)), next });
}
