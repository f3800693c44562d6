import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { once } from "./once.ts";

/** The program of the reference page. */
export interface ReferenceScript {
  /** Changes with the content, so browsers may cache it. */
  readonly name: string;
  readonly gzipped: Uint8Array;
  readonly plainBytes: number;
  /** Inflated at the first call, off the event loop, and shared by all. */
  plain(): Promise<Uint8Array>;
}

/** The package's file in development, the copy in the executable otherwise. */
export async function readReferenceScript(): Promise<ReferenceScript> {
  const gzipped = Bun.isStandaloneExecutable ? await embedded() : Bun.gzipSync(await installed());
  const hash = Bun.hash(gzipped).toString(16);
  return {
    name: `reference-${hash}.js`,
    gzipped,
    // RFC 1952 ends with the size of what was compressed.
    plainBytes: new DataView(gzipped.buffer, gzipped.byteOffset).getUint32(gzipped.byteLength - 4, true),
    plain: once(() => promisify(gunzip)(gzipped)),
  };
}

async function embedded(): Promise<Uint8Array<ArrayBuffer>> {
  const { default: path } = await import("virtual:api-reference");
  return Bun.file(path).bytes();
}

/** The package exports its parts for bundlers; the one file for browsers lies beside them. */
async function installed(): Promise<Uint8Array<ArrayBuffer>> {
  const entry = fileURLToPath(import.meta.resolve("@scalar/api-reference"));
  return Bun.file(join(dirname(entry), "browser", "standalone.js")).bytes();
}
