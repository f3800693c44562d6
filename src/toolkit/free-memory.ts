/**
 * Frees the memory of bytes that nobody uses after this. Otherwise it is held until the next garbage collection, and until then a
 * busy service reads hundreds of MB more. Bytes that are only part of a buffer are not touched.
 */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength === byteLength)
    buffer.transfer(0);
}
