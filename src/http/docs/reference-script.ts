import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The program of the reference page. */
export interface ReferenceScript {
  /** Changes with the content, so that browsers may cache it. */
  readonly name: string;
  readonly gzipped: Blob;
  plain(): Blob;
}

/** The package's file in development, the copy in the executable otherwise. */
export async function readReferenceScript(): Promise<ReferenceScript> {
  const gzipped = Bun.isStandaloneExecutable ? await embedded() : Bun.gzipSync(await installed());
  const hash = Bun.hash(gzipped).toString(16);
  return {
    name: `reference-${hash}.js`,
    gzipped: new Blob([gzipped]),
    plain: () => new Blob([Bun.gunzipSync(gzipped)]),
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
