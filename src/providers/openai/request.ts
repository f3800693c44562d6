import type { Json } from "../../domain/json.ts";
import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import { type InputFile, ProviderError, type SubmitRequest } from "../../domain/ports/provider.ts";

/** A call of the images API: path and body. */
export interface UpstreamCall {
  readonly path: string;
  readonly body: { readonly type: string; readonly bytes: Uint8Array };
}

/**
 * Translates a request: an edit with input images, else a generation. Parameters keep their names, which are this API's. Early
 * versions need a stream and cost tokens, so only those wanted are requested. These models refuse `response_format`.
 */
export async function toUpstreamRequest(submission: SubmitRequest): Promise<UpstreamCall> {
  const { inputs, request } = submission;
  const fields: Record<string, Json> = { model: submission.upstreamModel };
  if (request.prompt !== undefined) fields.prompt = request.prompt;
  fields.n = request.n;
  const { partial_images: _wish, ...parameters } = request.parameters;
  Object.assign(fields, parameters);
  if (submission.previews !== undefined) {
    Object.assign(fields, { stream: true, partial_images: submission.previews.wanted });
  }
  if (inputs.length > 0) {
    const images = inputs.filter(({ role }) => role === "image");
    const files = inputs.map((file): FormFile => ({ field: fieldOf(file, images.length), file }));
    return { path: "/images/edits", body: await toForm(fields, files) };
  }
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  return { path: "/images/generations", body: { type: "application/json", bytes } };
}

/** A file of a form, and the field that it is in. */
export interface FormFile {
  readonly field: string;
  readonly file: InputFile;
}

/**
 * Encodes a form. Values that are not scalar become JSON text. In a mask, what may change is white too: servers of this API such as
 * sd-server look at brightness and not at transparency.
 */
export async function toForm(
  fields: Readonly<Record<string, Json>>,
  files: readonly FormFile[],
): Promise<UpstreamCall["body"]> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  for (const [index, { field, file }] of files.entries()) {
    const { extension } = MEDIA_TYPES[file.type];
    const content =
      (await file.painted?.("either")) ?? new Blob([await file.content.arrayBuffer()], { type: file.type });
    form.append(field, content, `input-${index + 1}.${extension}`);
  }
  // Encoded to bytes, so that the body has a known length and is sent whole.
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { type, bytes: await encoded.bytes() };
}

function fieldOf({ role }: InputFile, images: number): string {
  if (role === "mask") return "mask";
  if (role === "image") return images > 1 ? "image[]" : "image";
  throw new ProviderError("reroute", "NO_ROUTE_AVAILABLE", `OpenAI: no field for an input that is a ${role}`);
}
