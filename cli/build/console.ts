/*
 * Bundles the console for browsers: scripts split by screen, one style sheet, names that change with the content, everything
 * compressed ahead.
 *
 *   bun cli/build/console.ts    writes the pack to stdout, for a server that runs from the sources
 */
import { basename, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { type FilePack, type PackedFile, writePack } from "../../src/toolkit/file-pack.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The console's files, and what they were bundled from. */
export interface BuiltConsole {
  readonly pack: FilePack;
  /** Paths relative to `root`, for the licence notices. */
  readonly inputs: readonly string[];
}

/** How well files are compressed. The best takes three times as long as everything else. */
interface Compression {
  readonly gzip: 6 | 9;
  readonly brotli: number;
}

const BEST: Compression = { gzip: 9, brotli: constants.BROTLI_MAX_QUALITY };
const QUICK: Compression = { gzip: 6, brotli: 5 };

/** @param entry path below `root` of the script that the page begins with */
export async function buildConsole(
  root: string,
  entry = "console/main.tsx",
  compression = BEST,
): Promise<BuiltConsole> {
  const { outputs, metafile } = await Bun.build({
    root: join(root, "console"),
    entrypoints: [join(root, entry)],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    metafile: true,
    naming: "[name]-[hash].[ext]",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [tailwind],
  });
  const files = await Promise.all(
    outputs.map(async (output): Promise<[string, PackedFile]> => {
      const plain = new Uint8Array(await output.arrayBuffer());
      return [basename(output.path), compress(basename(output.path), plain, compression)];
    }),
  );
  const sorted = files.sort(([one], [other]) => (one < other ? -1 : 1));
  const nameOf = (isIt: (output: Bun.BuildArtifact) => boolean) =>
    basename(outputs.find(isIt)?.path ?? missing());
  const about = {
    script: nameOf(({ kind }) => kind === "entry-point"),
    style: nameOf(({ path }) => path.endsWith(".css")),
  };
  return { pack: { about, files: new Map(sorted) }, inputs: Object.keys(metafile?.inputs ?? {}) };
}

function missing(): never {
  throw new Error("The console's bundle lacks its script or its styles.");
}

function compress(name: string, plain: Uint8Array<ArrayBuffer>, { gzip, brotli }: Compression): PackedFile {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`The console has a file of an unknown type: ${name}.`);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotli,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  return {
    type,
    plainBytes: plain.length,
    gzip: new Uint8Array(gzipSync(plain, { level: gzip })),
    brotli: new Uint8Array(brotliCompressSync(plain, { params })),
  };
}

if (import.meta.main) {
  const { pack } = await buildConsole(join(import.meta.dir, "../.."), undefined, QUICK);
  // Bun.write sends a part twice if a socket takes a long text in pieces, as the stdout of another Bun's child does (Bun 1.4.5).
  process.stdout.write(writePack(pack));
}
