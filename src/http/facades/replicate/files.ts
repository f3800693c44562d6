import type { Principal } from "../../../domain/access/account.ts";
import { invalid, mustBe } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { MAX_INPUT_BYTES } from "../../../domain/limits.ts";
import { MEDIA_TYPES } from "../../../domain/media/asset.ts";
import type { UploadedFile } from "../../../domain/media/uploaded-file.ts";
import type { AssetStore, StagedFile } from "../../../domain/ports/asset-store.ts";
import type { Thumbnails } from "../../../domain/ports/thumbnails.ts";
import type { UploadStore } from "../../../domain/ports/upload-store.ts";
import type { RemoveTaskDeps } from "../../../service/remove-task.ts";
import { stageUpload, type UploadFileDeps, uploadFile } from "../../../service/upload-file.ts";
import { listUploads, readUpload, removeUpload } from "../../../service/uploaded-files.ts";
import { ownFileReply } from "../../assets/routes.ts";
import { counted, type Endpoint, type KeyedExchange, keyed, polled } from "../../exchange.ts";
import type { Incoming } from "../../ingress/incoming.ts";
import { readMultipart } from "../../multipart/read.ts";
import { json, type Reply } from "../../reply.ts";
import { requireStanding } from "../../standing.ts";
import * as wire from "./file-wire.ts";
import { BASE } from "./manners.ts";
import { pageOf } from "./models.ts";

export interface FileDeps extends UploadFileDeps, Omit<RemoveTaskDeps, "assets"> {
  readonly uploads: UploadStore;
  readonly assets: Pick<AssetStore, "stage" | "removeUnheld" | "deliver">;
  readonly thumbnails: Thumbnails;
}

const PATH = `${BASE}/files`;
const FILE = `${PATH}/:file_id`;

/** Files that clients upload before a prediction. */
export function fileEndpoints(deps: FileDeps): Endpoint[] {
  return [
    counted(PATH, wire.CREATE_INPUT_FILE, (exchange) => upload(deps, exchange), "creates"),
    polled(PATH, wire.LIST_INPUT_FILES, (exchange) => list(deps, exchange), "lists"),
    polled(FILE, wire.READ_INPUT_FILE, async ({ principal, param, origin }) =>
      json(presentFile(await readUpload(deps, principal, param("file_id")), origin)),
    ),
    keyed("DELETE", FILE, wire.DELETE_INPUT_FILE, {}, async ({ principal, param }) => {
      await removeUpload(deps, principal, param("file_id"));
      return { status: 204, headers: {}, body: null };
    }),
    keyed("GET", `${FILE}/download`, wire.DOWNLOAD_INPUT_FILE, { logLevel: "debug" }, async (exchange) => {
      const { request, principal, param, isLate } = exchange;
      const file = await readUpload(deps, principal, param("file_id"));
      return ownFileReply(deps, request, file, { isLate });
    }),
  ];
}

function presentFile(file: UploadedFile, origin: string, metadata: JsonObject = {}): JsonObject {
  const { id, type, sizeBytes, sha256, createdAt, expiresAt } = file;
  const name = file.name ?? `${id}.${MEDIA_TYPES[type].extension}`;
  return {
    ...{ id, name },
    content_type: type,
    size: sizeBytes,
    // That API's document does not have it, but its client for Python reads no file without it, nor one without a name.
    etag: sha256,
    checksums: { sha256 },
    metadata,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    urls: { get: `${origin}${PATH}/${id}` },
  };
}

/** Fields of an input that name files by their addresses here, which stand for the files themselves; by their ids, as creates take them. */
export function withFileIds(value: Json, origins: readonly (string | undefined)[]): Json {
  if (typeof value === "string") return fileIdIn(value, origins) ?? value;
  return Array.isArray(value) ? value.map((entry: Json) => withFileIds(entry, origins)) : value;
}

function fileIdIn(text: string, origins: readonly (string | undefined)[]): string | undefined {
  const origin = origins.find((each) => each !== undefined && text.startsWith(`${each}${PATH}/`));
  const id =
    origin === undefined ? "" : text.slice(origin.length + PATH.length + 1).replace(/\/download$/, "");
  return isId("file", id) ? id : undefined;
}

const CREATED = 201;

async function upload(deps: FileDeps, exchange: KeyedExchange): Promise<Reply> {
  const { principal: owner, origin, standing } = exchange;
  const { staged, metadata, name } = await receive(deps, exchange);
  try {
    requireStanding(standing);
  } catch (error) {
    await staged.release(false);
    throw error;
  }
  const file = await uploadFile(deps, { owner, staged, name, field: CONTENT });
  return { ...json(presentFile(file, origin, metadata)), status: CREATED };
}

const CONTENT = "content";
const METADATA = "metadata";
const MOST_METADATA_BYTES = 16 * 1024;
const FORM_BYTES = 64 * 1024;
const LIMITS = { maxFiles: 4, maxFields: 8, maxFieldBytes: MOST_METADATA_BYTES, maxHeaderBytes: 8 * 1024 };

interface Received {
  readonly staged: StagedFile;
  readonly metadata: JsonObject;
  readonly name?: string | undefined;
}

type Part = { readonly staged: StagedFile } | { readonly text: string } | undefined;

/** @throws AppError naming the field at fault; then no file is kept */
function receive(deps: FileDeps, { request, intake, principal }: KeyedExchange): Promise<Received> {
  const most = Math.max(...Object.values(MAX_INPUT_BYTES)) + FORM_BYTES;
  return intake.receive(most, async (body) => {
    const form = await readMultipart(request, body, LIMITS, partTaker(deps, body, principal), async (part) =>
      dropped(part),
    );
    const parts = form.files.map(({ value }) => value);
    const [first, ...others] = parts.filter((part) => part !== undefined && "staged" in part);
    try {
      if (first === undefined) throw invalid({ kind: "required", field: CONTENT });
      if (others.length > 0) throw invalid({ kind: "given_twice", field: CONTENT });
      const texts = new Map(form.fields.map(({ name, value }) => [name, value]));
      const asFile = parts.find((part) => part !== undefined && "text" in part);
      const metadata = metadataIn(asFile?.text ?? texts.get(METADATA));
      return { staged: first.staged, metadata, name: texts.get("filename")?.slice(0, 255) };
    } catch (error) {
      await Promise.all(parts.map(dropped));
      throw error;
    }
  });
}

/** Clients send what they say of a file as a file of its own. Files of other fields are dropped. */
function partTaker(deps: FileDeps, body: Incoming, owner: Principal) {
  return async (field: string, content: AsyncIterable<Uint8Array>): Promise<Part> => {
    if (field === METADATA) return { text: await textOf(content) };
    if (field !== CONTENT) return undefined;
    await body.takeFile();
    return { staged: await stageUpload(CONTENT, owner, (options) => deps.assets.stage(content, options)) };
  };
}

async function dropped(part: Part): Promise<void> {
  if (part !== undefined && "staged" in part) await part.staged.release(false);
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > MOST_METADATA_BYTES)
      throw mustBe(METADATA, { many: "characters", least: undefined, most: MOST_METADATA_BYTES }, size);
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces).toString();
}

function metadataIn(text = "{}"): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below, as whatever else is no object.
  }
  throw mustBe(METADATA, { form: "json" });
}

async function list(deps: FileDeps, { principal, query, origin }: KeyedExchange): Promise<Reply> {
  const after = query().get("cursor") ?? undefined;
  const { files, next } = await listUploads(deps, principal, { limit: 100, after });
  const address = next === null ? null : `${origin}${PATH}?cursor=${encodeURIComponent(next)}`;
  return json(
    pageOf(
      files.map((file) => presentFile(file, origin)),
      address,
    ),
  );
}
