import { gzipSync } from "node:zlib";

/** A file of an archive. */
export interface Packed {
  /** With `/` between folders; at most 100 bytes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isProgram?: true;
}

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;

/**
 * Packs files into a gzipped tar (ustar, POSIX.1-1988). The same files make the same bytes, because times and owners are given.
 *
 * @param modifiedSec the time of every file, in seconds of the epoch
 */
export function packArchive(files: readonly Packed[], modifiedSec: number): Uint8Array {
  const blocks = files.flatMap((file) => [
    headerOf(file, modifiedSec),
    file.bytes,
    Buffer.alloc((BLOCK_BYTES - (file.bytes.length % BLOCK_BYTES)) % BLOCK_BYTES),
  ]);
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]), { level: 6 });
}

function headerOf({ path, bytes, isProgram }: Packed, modifiedSec: number): Buffer {
  if (Buffer.byteLength(path) > NAME_BYTES) throw new Error(`${path} is too long a name for an archive.`);
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, "0")}\0`, at);
  header.write(path, 0);
  octal(isProgram ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(bytes.length, 124, 11);
  octal(modifiedSec, 136, 11);
  // The checksum counts its own field as spaces.
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  header.write("root", 265);
  header.write("root", 297);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  return header;
}
