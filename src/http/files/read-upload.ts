import type { Principal } from "../../domain/access/account.ts";
import { AppError, invalid } from "../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../domain/limits.ts";
import { isMediaType } from "../../domain/media/asset.ts";
import type { AssetStore, StagedFile } from "../../domain/ports/asset-store.ts";
import { stageUpload } from "../../service/upload-file.ts";
import type { KeyedExchange } from "../exchange.ts";
import type { Incoming } from "../ingress/incoming.ts";
import { readMultipart } from "../multipart/read.ts";
import { check, checkQuery } from "../wire/check.ts";
import { UPLOAD_FIELDS, UPLOAD_FILE } from "./wire.ts";

type Deps = { readonly assets: Pick<AssetStore, "stage"> };

/** A file that came with a request. The caller releases it. */
export interface ReceivedFile {
  readonly staged: StagedFile;
  readonly name?: string | undefined;
}

const MOST_BYTES = Math.max(...Object.values(MAX_INPUT_BYTES));
/** Of a form besides its file. */
const FORM_BYTES = 64 * 1024;
const LIMITS = { maxFiles: 2, maxFields: 8, maxFieldBytes: 4 * 1024, maxHeaderBytes: 8 * 1024 };
const FIELD = "file";

/**
 * Receives the one file of a request: the field `file` of a form, or the body itself.
 * @throws AppError `invalid_request`, `request_too_large`, `unsupported_media_type`; then no file is kept
 */
export function receiveFile(
  deps: Deps,
  { request, intake, query, principal: owner }: KeyedExchange,
): Promise<ReceivedFile> {
  const type = request.headers.get("content-type");
  const { name } = checkQuery(UPLOAD_FILE.query ?? {}, query()) as { name?: string };
  if (type !== null && /^multipart\//i.test(type))
    return intake.receive(MOST_BYTES + FORM_BYTES, (body) =>
      readForm(deps, request, body, { owner, named: name }),
    );
  checkRaw(request.headers);
  return intake.receive(MOST_BYTES, async (body) => {
    await body.takeFile();
    const staged = await stageUpload(FIELD, owner, (options) => deps.assets.stage(piecesOf(body), options));
    return { staged, name };
  });
}

/** @throws AppError for what is no file */
function checkRaw(headers: Headers): void {
  const given = headers.get("content-type");
  const [type = ""] = (given ?? "").toLowerCase().split(";");
  if (type.trim() !== "application/octet-stream" && !isMediaType(type.trim())) {
    const wanted = "multipart/form-data, application/octet-stream, or the type of an image, a video or sound";
    throw new AppError("unsupported_media_type", { kind: "content_type", wanted, given });
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AppError("unsupported_media_type", { kind: "content_encoding", given: encoding });
}

/** What is left of a body, piece by piece. */
export async function* piecesOf(body: Incoming): AsyncGenerator<Uint8Array> {
  for (let piece = await body.next(); piece !== undefined; piece = await body.next()) yield piece;
}

async function readForm(
  deps: Deps,
  request: Request,
  body: Incoming,
  { owner, named }: { readonly owner: Principal; readonly named: string | undefined },
): Promise<ReceivedFile> {
  let count = 0;
  const take = async (field: string, content: AsyncIterable<Uint8Array>) => {
    if (field !== FIELD) throw invalid({ kind: "unknown_field", field, owner: "An upload", known: [FIELD] });
    count += 1;
    if (count > 1) throw invalid({ kind: "given_twice", field });
    await body.takeFile();
    return stageUpload(FIELD, owner, (options) => deps.assets.stage(content, options));
  };
  const drop = (staged: StagedFile) => staged.release(false);
  const { fields, files } = await readMultipart(request, body, LIMITS, take, drop);
  const [file] = files;
  try {
    const names = new Set(fields.map(({ name }) => name));
    if (names.size < fields.length)
      throw invalid({ kind: "given_twice", field: fields.at(-1)?.name ?? FIELD });
    if (file === undefined) throw invalid({ kind: "required", field: FIELD });
    const texts = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    check(UPLOAD_FIELDS, texts);
    return { staged: file.value, name: texts.name ?? named };
  } catch (error) {
    await file?.value.release(false);
    throw error;
  }
}
