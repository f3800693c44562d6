/** A file of a pack, as it is sent. */
export interface PackedFile {
  readonly type: string;
  readonly plainBytes: number;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly brotli: Uint8Array<ArrayBuffer>;
}

/** Files by name in one sequence of bytes, so that an executable carries one file however many there are. */
export interface FilePack {
  /** What the maker says of the whole. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, PackedFile>;
}

interface Entry extends Pick<PackedFile, "type" | "plainBytes"> {
  readonly name: string;
  readonly sizes: readonly [gzip: number, brotli: number];
}

const LENGTH_BYTES = 4;

/** The length of a JSON text, the text, then every file's bytes in its order. */
export function writePack({ about, files }: FilePack): Uint8Array<ArrayBuffer> {
  const entries = [...files].map(([name, { type, plainBytes, gzip, brotli }]): Entry => {
    return { name, type, plainBytes, sizes: [gzip.length, brotli.length] };
  });
  const text = Buffer.from(JSON.stringify({ about, entries }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  const contents = [...files.values()].flatMap(({ gzip, brotli }) => [gzip, brotli]);
  return new Uint8Array(Buffer.concat([length, text, ...contents]));
}

/** @throws Error for bytes that are not one whole pack */
export function readPack(bytes: Uint8Array<ArrayBuffer>): FilePack {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  let at = LENGTH_BYTES + length;
  // Written by `writePack`, of the same version as this reader.
  const { about, entries } = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, at))) as {
    about: FilePack["about"];
    entries: readonly Entry[];
  };
  const take = (size: number) => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  const files = entries.map(({ name, type, plainBytes, sizes }): [string, PackedFile] => [
    name,
    { type, plainBytes, gzip: take(sizes[0]), brotli: take(sizes[1]) },
  ]);
  if (at !== bytes.length) throw new Error(`A pack of ${at} bytes came as ${bytes.length}.`);
  return { about, files: new Map(files) };
}
