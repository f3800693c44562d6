/**
 * Frees the memory of bytes that nobody uses after this. Otherwise it is held until garbage is collected, by which time a busy
 * service has read hundreds of MB more. Leaves bytes alone that are only part of a buffer.
 */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength === byteLength)
    buffer.transfer(0);
}
