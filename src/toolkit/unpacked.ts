/** The packings that servers use, by their names in `Content-Encoding`. */
const UNPACKERS = {
  gzip: "createGunzip",
  "x-gzip": "createGunzip",
  deflate: "createInflate",
  br: "createBrotliDecompress",
  zstd: "createZstdDecompress",
} as const;

/**
 * An answer as it was before it was packed for the way, which some servers do although nobody asks for it. Unpacks no more than its
 * reader takes. An answer that is not packed, or in a way that nobody here knows, stays as it is.
 */
export function unpacked(response: Response): Response {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const { body, status, statusText } = response;
  const isEmpty = body === null || response.headers.get("content-length") === "0";
  if (isEmpty || !Object.hasOwn(UNPACKERS, encoding)) return response;
  const { pipeline, Readable } = process.getBuiltinModule("node:stream");
  // It is one of the names.
  const unpacker = process.getBuiltinModule("node:zlib")[UNPACKERS[encoding as keyof typeof UNPACKERS]]();
  // Who reads what comes out is told of what goes wrong.
  pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), unpacker, () => undefined);
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(Readable.toWeb(unpacker) as ReadableStream<Uint8Array>, {
    status,
    statusText,
    headers,
  });
}
