import { isJsonObject, type Json } from "../../domain/json.ts";
import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import { type Place, placesOf, type Workflow } from "../../domain/model/workflow.ts";
import {
  type InputFile,
  ProviderError,
  type SubmitRequest,
  type Tracing,
} from "../../domain/ports/provider.ts";
import type { InputRole } from "../../domain/task/request.ts";
import { describeAnswer, refusedBeforehand } from "../kit/classify.ts";
import { NoAnswer } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import type { Api } from "./api.ts";
import { workflowOf } from "./graph.ts";
import { readRefusal } from "./refusals.ts";

/** The folder of our files among the server's inputs. */
const FOLDER = "svc";
const ANSWER_BYTES = 64 * 1024;

interface Uploaded {
  readonly name: string;
  readonly subfolder: string;
  readonly type: string;
}

/**
 * Uploads the inputs of a request under names that follow from their content, so that the same file is stored there once.
 *
 * @returns the server's names of the files, by role and in their order
 * @throws ProviderError when one cannot be uploaded; nothing was submitted
 */
export async function uploadInputs(
  api: Api,
  request: SubmitRequest,
  signal: AbortSignal,
): Promise<ReadonlyMap<InputRole, readonly string[]>> {
  const { upstream } = api;
  const start = upstream.clock.elapsed();
  const workflow = workflowOf(request);
  const names = new Map<InputRole, readonly string[]>();
  const files = [...request.inputs].sort((a, b) => Number(a.role === "mask") - Number(b.role === "mask"));
  let original: Uploaded | undefined;
  for (const file of files) {
    const place = placeOf(workflow, file.role);
    const isPart = file.role === "mask" && place !== undefined && isSame(place, placeOf(workflow, "image"));
    const sent = isPart && original !== undefined ? maskOn(original, file) : plainFile(file, workflow, place);
    const uploaded = await upload(api, await beforeSending(() => sent), signal, request.tracing);
    original ??= file.role === "image" ? uploaded : undefined;
    const role = isPart ? "image" : file.role;
    names.set(role, isPart ? [nameOf(api, uploaded)] : [...(names.get(role) ?? []), nameOf(api, uploaded)]);
    if (isPart) names.delete("mask");
  }
  if (files.length > 0) request.tracing?.took("upload", upstream.clock.elapsed() - start);
  return names;
}

function placeOf({ slots }: Workflow, role: InputRole): Place | undefined {
  const slot = Object.hasOwn(slots, role) ? slots[role] : undefined;
  return slot && placesOf(slot)[0]?.place;
}

function isSame(one: Place, other: Place | undefined): boolean {
  return one.node === other?.node && one.input === other.input;
}

interface Sent {
  readonly path: "/upload/image" | "/upload/mask";
  readonly content: Blob;
  readonly name: string;
  readonly original?: Uploaded | undefined;
}

async function plainFile(file: InputFile, workflow: Workflow, place: Place | undefined): Promise<Sent> {
  const colour = file.role === "mask" ? (place?.painted ?? colourRead(workflow, place)) : undefined;
  const stem = file.sha256.slice(0, 40);
  const painted = colour && (await file.painted?.(colour));
  if (painted !== undefined)
    return { path: "/upload/image", content: painted, name: `${stem}-${colour}.png` };
  const { extension } = MEDIA_TYPES[file.type];
  return { path: "/upload/image", content: file.content, name: `${stem}.${extension}` };
}

/** The colour that a node reads a mask by; undefined for those that read transparency. */
function colourRead({ nodes }: Workflow, place: Place | undefined): "white" | undefined {
  const { class_type, inputs } = (place && nodes[place.node]) ?? {};
  const isColour = typeof inputs?.channel === "string" && inputs.channel !== "alpha";
  return class_type === "LoadImageMask" && isColour ? "white" : undefined;
}

/** A mask that becomes the transparency of an image that is there. The server keeps both as one PNG. */
async function maskOn(original: Uploaded, { content, sha256 }: InputFile): Promise<Sent> {
  const stem = original.name.replace(/\.[^.]*$/, "").slice(0, 40);
  return { path: "/upload/mask", content, name: `${stem}-${sha256.slice(0, 40)}.png`, original };
}

async function upload(
  { upstream, path: pathOf }: Api,
  { path, content, name, original }: Sent,
  signal: AbortSignal,
  tracing: Tracing | undefined,
): Promise<Uploaded> {
  const form = new FormData();
  form.append("image", new Blob([await content.arrayBuffer()], { type: content.type }), name);
  form.append("type", "input");
  form.append("subfolder", FOLDER);
  if (original !== undefined) {
    const { name: filename, subfolder, type } = original;
    form.append("original_ref", JSON.stringify({ filename, subfolder, type }));
  }
  // Encoded to bytes, so that the body has a known length and is sent in one piece.
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  const body = { type, bytes: await encoded.bytes() };
  const request = { method: "POST", url: pathOf(path), body, maxBytes: ANSWER_BYTES } as const;
  const answer = await upstream.send(request, signal).catch(untaken);
  const { status, json } = answer;
  if (status > 299) {
    tracing?.answered(status, undefined);
    throw refusedBeforehand(readRefusal(upstream, answer));
  }
  const uploaded = readUploaded(json);
  if (uploaded !== undefined) return uploaded;
  const detail = describeAnswer(upstream, answer, { word: "to an upload, without the name of the file" });
  throw new ProviderError("retry", "UPSTREAM_ERROR", detail, { isFailure: true });
}

function readUploaded(json: Json | undefined): Uploaded | undefined {
  if (!isJsonObject(json)) return undefined;
  const { name, subfolder = "", type = "input" } = json;
  const isText = typeof name === "string" && typeof subfolder === "string" && typeof type === "string";
  return isText && name !== "" ? { name, subfolder, type } : undefined;
}

/** The value for a node that loads a file. The cloud knows files only by their names. */
function nameOf({ isCloud }: Api, { name, subfolder }: Uploaded): string {
  return subfolder === "" || isCloud ? name : `${subfolder}/${name}`;
}

/** Whatever the result of an upload, the task was not submitted. */
function untaken(error: unknown): never {
  if (error instanceof NoAnswer) throw new ProviderError("retry", "UPSTREAM_ERROR", error.message);
  throw error;
}
