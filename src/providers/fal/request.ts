import type { Json } from "../../domain/json.ts";
import { type InputFile, ProviderError, type SubmitRequest } from "../../domain/ports/provider.ts";
import { wordRequest } from "../kit/wording.ts";

/** The inputs go along inside the request; this is the most they may come to together, before they are encoded. */
const INLINE_MAX_BYTES = 48 * 1024 * 1024;

/** The input of one of fal's endpoints for a request. @throws ProviderError `reroute` when the endpoint cannot be asked for it */
export async function toUpstreamRequest(
  submission: SubmitRequest,
): Promise<{ readonly endpoint: string; readonly input: Readonly<Record<string, Json>> }> {
  const { endpoint, fields, inputs } = wordRequest(submission);
  checkSize(submission.inputs);
  const input: Record<string, Json> = { ...fields };
  for (const { field, isList, files } of inputs) {
    const [first = null, ...others] = await Promise.all(files.map(toDataUri));
    input[field] = isList ? [first, ...others] : first;
  }
  return { endpoint, input };
}

function checkSize(inputs: readonly InputFile[]): void {
  const sizeBytes = inputs.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (sizeBytes <= INLINE_MAX_BYTES) return;
  const most = `${INLINE_MAX_BYTES / 1024 / 1024} MB`;
  throw new ProviderError("reroute", "INPUT_INVALID", `fal: ${sizeBytes} bytes of inputs go along inline`, {
    publicMessage: `The inputs are larger than ${most} together, more than the provider takes.`,
  });
}

/** Of fal's models, some want a mask white where it may change, and some transparent. */
async function toDataUri({ type, content, painted }: InputFile): Promise<string> {
  const both = await painted?.("either");
  const bytes = Buffer.from(await (both ?? content).arrayBuffer());
  return `data:${both === undefined ? type : "image/png"};base64,${bytes.toString("base64")}`;
}
