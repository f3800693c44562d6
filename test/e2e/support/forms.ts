import type { Sent } from "./api.ts";

/** A form as a client sends it: fields, and files that all have the same meaningless name. */
export async function formOf(
  fields: Readonly<Record<string, string>>,
  files: readonly (readonly [field: string, bytes: Uint8Array])[],
): Promise<Required<Pick<Sent, "headers">> & { readonly body: Uint8Array<ArrayBuffer> }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, bytes] of files) form.append(name, new Blob([Buffer.from(bytes)]), "blob");
  const response = new Response(form);
  // Read first: the boundary is gone with the body.
  const headers = { "Content-Type": response.headers.get("content-type") ?? "" };
  return { headers, body: new Uint8Array(await response.arrayBuffer()) };
}
