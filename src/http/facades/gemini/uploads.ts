import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import { type FileId, isId } from "../../../domain/ids.ts";
import { MAX_FILE_NAME, MAX_INPUT_BYTES, MAX_UPLOADED_FILES } from "../../../domain/limits.ts";
import type { AccountStore } from "../../../domain/ports/account-store.ts";
import {
  requireActiveOwner,
  stageUpload,
  type UploadFileDeps,
  uploadFile,
} from "../../../service/upload-file.ts";
import { readJsonBody } from "../../body.ts";
import type { Exchange, KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { requireStanding } from "../../standing.ts";
import { presentFile } from "./files.ts";
import { BASE } from "./manners.ts";
import { memberOf, objectOf, textOf } from "./members.ts";
import { fileNameOf } from "./own-files.ts";
import type { UploadSession, UploadSessions } from "./upload-sessions.ts";

export interface UploadDeps extends UploadFileDeps {
  readonly accounts: Pick<AccountStore, "account" | "key">;
  readonly sessions: UploadSessions;
}

/** Where uploads begin. */
export const UPLOADS = `${BASE}/upload/v1beta/files`;
const MOST_BYTES = Math.max(...Object.values(MAX_INPUT_BYTES));
const COMMAND = "X-Goog-Upload-Command";
const OFFSET = "X-Goog-Upload-Offset";
const LENGTH = "X-Goog-Upload-Header-Content-Length";
const FIELD = "file";

/** Begins an upload, whose address then takes the content without a key. */
export async function beginUpload(deps: UploadDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, origin, standing } = exchange;
  const { body } = await readJsonBody(exchange);
  requireStanding(standing);
  const protocol = request.headers.get("x-goog-upload-protocol");
  if (protocol?.toLowerCase() !== "resumable" || commandsOf(request)[0] !== "start")
    throw mustBe(COMMAND, { rule: "be start, with X-Goog-Upload-Protocol: resumable" });
  const trouble = deps.trouble();
  if (trouble !== undefined) throw trouble;
  const file = objectOf(body, FIELD) ?? { value: {}, path: FIELD };
  const named = memberOf(file.value, "name", FIELD);
  if (named !== undefined)
    throw mustBe(named.path, { rule: "be left out: names of files are given by the service" });
  const name = textOf(file.value, "displayName", FIELD);
  if (name !== undefined && (name.value === "" || [...name.value].length > MAX_FILE_NAME))
    throw mustBe(name.path, { many: "characters", least: 1, most: MAX_FILE_NAME }, name.value.length);
  const sizeBytes = numberIn(request, LENGTH);
  if (sizeBytes !== undefined && sizeBytes > MOST_BYTES)
    throw new AppError("request_too_large", { kind: "body_too_large", most: MOST_BYTES });
  const id = deps.ids.create("file");
  const { accountId, keyId, retainSec } = principal;
  await deps.sessions.open(id, { owner: { accountId, keyId, retainSec }, name: name?.value, sizeBytes });
  const headers = {
    "X-Goog-Upload-URL": `${origin}${UPLOADS}/${fileNameOf(id)}`,
    "X-Goog-Upload-Status": "active",
  };
  return json({}, headers);
}

/** Takes a part of an upload, ends it, or tells how far it is. Whoever has its address may. */
export async function continueUpload(deps: UploadDeps, exchange: Exchange): Promise<Reply> {
  const id = `file_${exchange.param("upload")}`;
  const file = deps.sessions.fileOf(id);
  if (file !== undefined) return ended(presentFile(file, exchange.origin));
  const session = isId("file", id) ? deps.sessions.find(id) : undefined;
  if (session === undefined || !isId("file", id)) throw new AppError("not_found", { kind: "file_unknown" });
  const commands = commandsOf(exchange.request);
  if (commands.includes("cancel")) {
    await deps.sessions.drop(id);
    return json({}, { "X-Goog-Upload-Status": "cancelled" });
  }
  if (session.isBusy) throw mustBe(COMMAND, { rule: "wait for the request before it to end" });
  session.isBusy = true;
  try {
    await requireActiveOwner(deps, session.owner);
    if (commands.includes("upload")) await receive(deps, session, exchange);
    if (commands.includes("finalize")) return await finalize(deps, exchange, { id, session });
  } finally {
    session.isBusy = false;
  }
  if (!commands.includes("upload") && !commands.includes("query"))
    throw mustBe(COMMAND, { oneOf: ["upload", "upload, finalize", "finalize", "query", "cancel"] });
  const headers = {
    "X-Goog-Upload-Status": "active",
    "X-Goog-Upload-Size-Received": String(session.receivedBytes),
  };
  return json({}, headers);
}

/** The bytes that arrived before a connection broke stay, and the sender continues after them. */
async function receive(
  { sessions, uploadedBytes }: UploadDeps,
  session: UploadSession,
  { request, intakeFor }: Exchange,
): Promise<void> {
  const { accountId } = session.owner;
  const offset = numberIn(request, OFFSET) ?? 0;
  if (offset !== session.receivedBytes) throw mustBe(OFFSET, { equal: session.receivedBytes }, offset);
  await intakeFor(accountId).receive(MOST_BYTES - offset, async (incoming) => {
    await incoming.takeFile();
    for (let piece = await incoming.next(); piece !== undefined; piece = await incoming.next()) {
      const used = sessions.usedBy(accountId);
      const most = { files: MAX_UPLOADED_FILES, bytes: uploadedBytes() };
      // What is under way may go on for ever, so it has the limit of what is stored.
      if (used.bytes + piece.length > most.bytes)
        throw new AppError("request_too_large", { kind: "uploads_full", used, most });
      requireKept(session);
      await session.arriving.append(piece);
      session.receivedBytes += piece.length;
    }
  });
}

/** @throws AppError `not_found` for an upload that was cancelled meanwhile: its file is closed */
function requireKept({ isDropped }: UploadSession): void {
  if (isDropped) throw new AppError("not_found", { kind: "file_unknown" });
}

async function finalize(
  deps: UploadDeps,
  { origin }: Exchange,
  { id, session }: { readonly id: FileId; readonly session: UploadSession },
): Promise<Reply> {
  const { sizeBytes, receivedBytes, owner, name } = session;
  if (sizeBytes !== undefined && sizeBytes !== receivedBytes)
    throw mustBe(LENGTH, { equal: receivedBytes }, sizeBytes);
  if (receivedBytes === 0) throw invalid({ kind: "required", field: FIELD });
  try {
    // The last part may have come slowly.
    await requireActiveOwner(deps, owner);
    requireKept(session);
    const staged = await stageUpload(FIELD, owner, (options) => session.arriving.stage(options));
    const file = await uploadFile(deps, { id, owner, staged, name, field: FIELD });
    deps.sessions.end(id, file);
    return ended(presentFile(file, origin));
  } catch (error) {
    await deps.sessions.drop(id);
    throw error;
  }
}

const ended = (file: ReturnType<typeof presentFile>) => json({ file }, { "X-Goog-Upload-Status": "final" });

function commandsOf({ headers }: Request): string[] {
  return (headers.get(COMMAND) ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
}

/** @throws AppError for a header that is no number */
function numberIn({ headers }: Request, name: string): number | undefined {
  const text = headers.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{1,12}$/.test(text)) throw mustBe(name, { rule: "be a number of bytes" }, text);
  return Number(text);
}
