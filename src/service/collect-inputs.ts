import type { Principal } from "../domain/access/account.ts";
import { invalid, mustBe } from "../domain/errors.ts";
import { type AssetId, type FileId, isId, type TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { MAX_INPUT_BYTES } from "../domain/limits.ts";
import { type Asset, isInputType, MEDIA_TYPES, type StoredFile } from "../domain/media/asset.ts";
import { dataUriHeader } from "../domain/media/data-uri.ts";
import type { MediaField, Model } from "../domain/model/model.ts";
import type { AssetStore, PutOptions, StagedFile } from "../domain/ports/asset-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Ids } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";
import type { MediaInput, MediaSource } from "../domain/task/request.ts";
import { asMask, checkMask, refusing } from "./given-mask.ts";
import { type InlineFiles, stageInlineFile } from "./inline-files.ts";
import { findUpload } from "./uploaded-files.ts";

export interface InputDeps {
  readonly tasks: TaskStore;
  readonly uploads: Pick<UploadStore, "byId">;
  readonly assets: AssetStore;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The public address of this service, if it is set. */
  readonly publicUrl?: string | undefined;
}

/** Files that came with the request, by the names that its media fields use for them. */
export type Uploads = ReadonlyMap<string, StagedFile>;

/** A request whose inputs are collected. */
export interface InputContext {
  readonly model: Model;
  /** Already accepted by the model's schema. */
  readonly body: JsonObject;
  readonly principal: Principal;
  readonly taskId: TaskId;
  readonly origin: string;
  readonly uploads?: Uploads | undefined;
  readonly inlineFiles?: InlineFiles | undefined;
  readonly hasPaintedMasks?: boolean | undefined;
  /** Receives every file staged here; the caller keeps and releases them. */
  readonly staged: StagedFile[];
}

/**
 * Turns the media fields of a body into inputs: data URIs are decoded and staged; files that came with the request, this
 * service's own addresses and the ids of uploaded files become the files they name; other addresses are checked now and fetched
 * by the task's first step. Every input of a task is a separate asset, even if its content belongs to another task or to an
 * uploaded file, because those may be removed.
 * @returns the inputs in the order of the model's fields, and the assets of new inputs
 * @throws AppError `invalid_request` naming the field that cannot be used
 */
export async function collectInputs(
  deps: InputDeps,
  context: InputContext,
): Promise<{ inputs: MediaInput[]; assets: Asset[] }> {
  const inputs: MediaInput[] = [];
  const assets: Asset[] = [];
  for (const field of context.model.mediaFields) {
    for (const { param, text } of valuesOf(field, context.body)) {
      const mayBePainted = context.hasPaintedMasks === true && field.role === "mask";
      const given = { field, param, text, index: inputs.length, mayBePainted };
      const source = await resolve(deps, context, given);
      if (source.kind === "stored") assets.push(source.asset);
      if (source.kind === "url")
        inputs.push({ role: field.role, param, source, ...(mayBePainted && { mayBePainted }) });
      else inputs.push({ role: field.role, param, source: { kind: "asset", assetId: source.asset.id } });
    }
  }
  const earlier = await earlierResult(deps, context, inputs.length);
  if (earlier !== undefined) {
    inputs.push(earlier.input);
    assets.push(earlier.asset);
  }
  await checkMask(deps, context, { inputs, assets });
  return { inputs, assets };
}

function valuesOf(field: MediaField, body: JsonObject): { param: string; text: string }[] {
  const value = body[field.name];
  if (typeof value === "string") return [{ param: field.name, text: value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((text, i) =>
    typeof text === "string" ? [{ param: `${field.name}[${i}]`, text }] : [],
  );
}

type Resolved = Extract<MediaSource, { kind: "url" }> | { readonly kind: "stored"; readonly asset: Asset };

interface Given {
  readonly field: MediaField;
  readonly param: string;
  readonly text: string;
  readonly index: number;
  readonly mayBePainted: boolean;
}

async function resolve(deps: InputDeps, context: InputContext, given: Given): Promise<Resolved> {
  const { param, text, field } = given;
  const upload = context.uploads?.get(text);
  if (upload !== undefined) return { kind: "stored", asset: inputAsset(deps, context, given, upload) };
  const inline = context.inlineFiles?.get(text);
  if (inline !== undefined || /^data:/i.test(text)) {
    const staged = await staging(context, given, (options) =>
      inline === undefined ? stageText(deps, given, options) : stageInlineFile(param, inline, options),
    );
    const file = await asMask(deps, given, { owner: context.principal.accountId, file: staged });
    return { kind: "stored", asset: inputAsset(deps, context, given, file) };
  }
  const own = ownFileId(text, [deps.publicUrl, context.origin]);
  if (own !== undefined) {
    const asset = isId("asset", own) ? await deps.tasks.assetById(own) : await findUpload(deps, own);
    if (asset === undefined) throw invalid({ kind: "stored_file_unknown", field: param });
    if (!asset.type.startsWith(`${field.media}/`))
      throw invalid({ kind: "other_media", field: param, wanted: field.media, given: asset.type });
    return { kind: "stored", asset: await ownCopy(deps, context, given, asset) };
  }
  const refusal = deps.egress.refusal(text, "media");
  if (refusal !== undefined) throw invalid({ kind: "finding", field: param, finding: refusal.clause });
  return { kind: "url", url: text };
}

async function stageText(
  deps: InputDeps,
  { param, text }: { param: string; text: string },
  options: PutOptions,
): Promise<StagedFile> {
  const header = dataUriHeader(text);
  if (header === undefined) throw mustBe(param, { form: "data_uri" });
  const content = text.slice(header.length).replace(/[\t\n\f\r ]+/g, "");
  if (!isBase64(content)) throw invalid({ kind: "not_base64", field: param });
  return deps.assets.stage(Buffer.from(content, "base64"), options);
}

async function staging(
  { principal: { accountId: owner } }: InputContext,
  { param, field }: { param: string; field: MediaField },
  stage: (options: PutOptions) => Promise<StagedFile>,
): Promise<StagedFile> {
  const options: PutOptions = {
    accept: [field.media],
    maxBytes: MAX_INPUT_BYTES[field.media],
    sanitize: true,
    owner,
  };
  return refusing(param, () => stage(options));
}

/** @throws AppError when the file is not of the field's kind */
function inputAsset(
  deps: InputDeps,
  context: InputContext,
  { field, param, index }: { field: MediaField; param: string; index: number },
  staged: StagedFile,
): Asset {
  context.staged.push(staged);
  const { kind } = MEDIA_TYPES[staged.file.type];
  if (kind !== field.media) {
    throw invalid({ kind: "other_media", field: param, wanted: field.media, given: kind });
  }
  return newInput(deps, context, staged, index);
}

function newInput(deps: InputDeps, context: InputContext, { file }: StagedFile, index: number): Asset {
  return {
    ...file,
    id: deps.ids.create("asset"),
    accountId: context.principal.accountId,
    taskId: context.taskId,
    role: "input",
    index,
    createdAt: deps.clock.now(),
  };
}

/** Whether a text is base64 in one of its alphabets, padded or not, and of a length that base64 can have. */
function isBase64(text: string): boolean {
  const unpadded = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  if (unpadded === 0 || unpadded % 4 === 1 || (unpadded !== text.length && text.length % 4 !== 0))
    return false;
  return /^[A-Za-z0-9+/_-]*$/.test(text.slice(0, unpadded));
}

/**
 * The content of another stored file as an input of this task. Holds the content, so that it stays if the other file is removed
 * meanwhile.
 * @throws AppError when it cannot be an input because of its type, or because its file was removed
 */
async function ownCopy(
  deps: InputDeps,
  context: InputContext,
  given: Pick<Given, "param" | "index"> & Partial<Given>,
  asset: StoredFile,
): Promise<Asset> {
  const { param, index } = given;
  if (!isInputType(asset.type)) throw invalid({ kind: "output_only", field: param, given: asset.type });
  const { sha256, sizeBytes, type, width, height, durationMs } = asset;
  const held = await deps.assets.hold({ sha256, sizeBytes, type, width, height, durationMs });
  if (held === undefined) throw invalid({ kind: "stored_file_gone", field: param });
  const file = await asMask(deps, given, { owner: context.principal.accountId, file: held });
  context.staged.push(file);
  return newInput(deps, context, file, index);
}

const ASSET_PATH = /^\/assets\/((?:asset|file)_[0-9a-z]{26})(?:\.[a-z0-9]+)?$/;

/** The stored file that an address of this service names, or the uploaded file with this id. */
function ownFileId(text: string, origins: readonly (string | undefined)[]): AssetId | FileId | undefined {
  if (isId("file", text)) return text;
  const origin = origins.find((each) => each !== undefined && text.startsWith(`${each}/`));
  if (origin === undefined) return undefined;
  const id = ASSET_PATH.exec(text.slice(origin.length))?.[1];
  return id !== undefined && (isId("asset", id) || isId("file", id)) ? id : undefined;
}

/** The input that `task_id` and `index` name: one result of the caller's own completed image task (docs/api.md 4.3). */
async function earlierResult(
  deps: InputDeps,
  context: InputContext,
  place: number,
): Promise<{ input: MediaInput; asset: Asset } | undefined> {
  const { task_id: id, index = 0 } = context.body;
  if (context.model.resultField === undefined || typeof id !== "string" || typeof index !== "number")
    return undefined;
  const task = isId("task", id) ? await deps.tasks.summary(id) : undefined;
  if (task === undefined || task.accountId !== context.principal.accountId || task.kind !== "image") {
    throw invalid({ kind: "not_an_image_task", field: "task_id" });
  }
  if (task.status !== "completed")
    throw invalid({ kind: "task_not_completed", field: "task_id", status: task.status });
  const result = task.results[index];
  if (result === undefined) {
    throw invalid({ kind: "result_absent", field: "index", results: task.results.length, given: index });
  }
  const made = await deps.tasks.assetById(result.assetId);
  if (made === undefined) throw invalid({ kind: "stored_file_gone", field: "task_id" });
  const asset = await ownCopy(deps, context, { param: "task_id", index: place }, made);
  const source = { kind: "asset", assetId: asset.id, result: { taskId: task.id, index } } as const;
  return { input: { role: context.model.resultField.role, param: "task_id", source }, asset };
}
