import type { Json, JsonObject } from "../../domain/json.ts";
import type { InputFile, SubmitRequest } from "../../domain/ports/provider.ts";
import { placeInputs, unsayable, wordRequest } from "../kit/wording.ts";

/** Files go along in the body up to this size together, which as base64 leaves room below the other instance's limit of 32 MB. */
const MOST_INLINE_BYTES = 20_000_000;

/** The body of a create. Fields keep their names, unless the route words them otherwise. @throws ProviderError `reroute` */
export async function toCreate(submission: SubmitRequest): Promise<JsonObject> {
  const { request, upstreamModel, wording, inputs } = submission;
  // One output is what every model makes unless it is told otherwise, and not every model can be told.
  const words = { ...wording, count: request.n === 1 ? undefined : (wording?.count ?? "n") };
  const { fields } = wordRequest({ ...submission, inputs: [], wording: words });
  const uris = await urisOf(inputs);
  const placed = wording?.inputs === undefined ? placesOf(submission) : placeInputs(submission);
  const media = placed.map(({ field, isList, files }): [string, Json] => {
    const values = files.map((file) => uris.get(file) ?? "");
    return [field, isList ? values : (values[0] ?? "")];
  });
  return { model: upstreamModel, ...fields, ...Object.fromEntries(media) };
}

/** The inputs in the fields that the caller gave them in. */
function placesOf({ inputs, request }: SubmitRequest) {
  const places = new Map<string, { field: string; isList: boolean; files: InputFile[] }>();
  for (const [i, file] of inputs.entries()) {
    const { param = "", role = file.role } = request.inputs[i] ?? {};
    const [, name = "", index] = /^(\w+)(\[\d+\])?$/.exec(param) ?? [];
    if (name === "") throw unsayable(`svc has no field for an input that is a ${role}`);
    // A result of an earlier task here, which is none there.
    const field = name === "task_id" ? `${role}_url` : name;
    places
      .getOrInsertComputed(field, () => ({ field, isList: index !== undefined, files: [] }))
      .files.push(file);
  }
  return [...places.values()];
}

async function urisOf(inputs: readonly InputFile[]): Promise<ReadonlyMap<InputFile, string>> {
  const sizeBytes = inputs.reduce((sum, file) => sum + file.sizeBytes, 0);
  const entries = inputs.map(async (file): Promise<[InputFile, string]> => {
    if (sizeBytes <= MOST_INLINE_BYTES)
      return [file, `data:${file.type};base64,${(await file.content.bytes()).toBase64()}`];
    if (file.url !== undefined) return [file, file.url()];
    throw unsayable(
      `files of ${sizeBytes} bytes go to svc by their addresses, for which public_url is needed`,
    );
  });
  return new Map(await Promise.all(entries));
}
