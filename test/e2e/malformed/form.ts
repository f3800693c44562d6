import type { Header, Malformed } from "./request.ts";

/** One part of a form. */
export interface Part {
  /** Lines before the content; the usual one for a field, or for a file, unless given. */
  readonly header?: string;
  readonly name?: string;
  readonly filename?: string;
  readonly content: string | Uint8Array;
}

export const BOUNDARY = "----boundary-of-a-test";

export function multipartType(boundary = BOUNDARY): Header {
  return ["Content-Type", `multipart/form-data; boundary=${boundary}`];
}

/** The body of a form, whole. */
export function formBody(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  return Buffer.concat([
    ...parts.flatMap((part) => [
      Buffer.from(`--${boundary}\r\n${headerOf(part)}\r\n\r\n`, "latin1"),
      Buffer.from(part.content),
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

export function formRequest(parts: readonly Part[]): Pick<Malformed, "headers" | "body"> {
  return { headers: [multipartType()], body: formBody(parts) };
}

function headerOf({ header, name = "x", filename }: Part): string {
  if (header !== undefined) return header;
  const file = filename === undefined ? "" : `; filename="${filename}"\r\nContent-Type: image/png`;
  return `Content-Disposition: form-data; name="${name}"${file}`;
}
