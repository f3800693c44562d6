import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { CompiledChecks, compileSchemas } from "./checks.ts";
import type { NativePackages } from "./native-packages.ts";

/** Ink asks for this optional package only while debugging, but a bundle needs an answer to the import. */
export const withoutDevtools: BunPlugin = {
  name: "without-devtools",
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, () => ({
      path: "react-devtools-core",
      namespace: "empty",
    }));
    build.onLoad({ filter: /.*/, namespace: "empty" }, () => ({
      contents: "export default { initialize() {}, connectToDevTools() {} };",
      loader: "js",
    }));
  },
};

/**
 * Takes the colours out of commander's texts with what Bun has built in. `node:util` loads its whole inspector for that, which
 * takes every command some milliseconds.
 */
export const withoutInspector: BunPlugin = {
  name: "without-inspector",
  setup(build) {
    const imported = /import \{ stripVTControlCharacters \} from ["']node:util["'];/;
    build.onLoad({ filter: /[\\/]commander[\\/]lib[\\/](?:command|help)\.js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      if (!imported.test(text))
        throw new Error(`${path} imports something else; see whether it is still needed.`);
      return {
        contents: text.replace(imported, "const stripVTControlCharacters = Bun.stripANSI;"),
        loader: "js",
      };
    });
  },
};

/** Answers `virtual:third-party-notices` with the path of an embedded, compressed text. */
export function embedNotices(compressed: Uint8Array<ArrayBuffer>): BunPlugin {
  return embedFile("third-party-notices", "third-party-notices.txt.zst", compressed);
}

/** Answers `virtual:api-reference` with the path of the reference page's embedded, compressed program. */
export function embedReference(compressed: Uint8Array<ArrayBuffer>): BunPlugin {
  return embedFile("api-reference", "api-reference.js.gz", compressed);
}

/** Answers `virtual:console` with the path of the console's embedded files, in one pack. */
export function embedConsole(pack: Uint8Array<ArrayBuffer>): BunPlugin {
  return embedFile("console", "console.pack", pack);
}

/** Fills in the checks of requests for the built-in models, and those of files that operators write. */
export function embedChecks(checks: CompiledChecks, schemas: ReturnType<typeof compileSchemas>): BunPlugin {
  return {
    name: "embed-checks",
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]catalog[\\/]compiled-checks\.ts$/ }, () => ({
        contents: `export const compiledChecks = ${JSON.stringify(checks)};`,
        loader: "js",
      }));
      build.onLoad({ filter: /[\\/]src[\\/]toolkit[\\/]compiled-schemas\.ts$/ }, () => ({
        contents: `export const compiledSchemas = ${JSON.stringify(schemas)};`,
        loader: "js",
      }));
    },
  };
}

function embedFile(module: string, path: string, contents: Uint8Array<ArrayBuffer>): BunPlugin {
  return {
    name: `embed-${module}`,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^virtual:${module}$`) }, () => ({ path, namespace: module }));
      build.onLoad({ filter: /.*/, namespace: module }, () => ({ contents, loader: "file" }));
    },
  };
}

/**
 * Replaces the module that loads sharp's addon by one that embeds the addon and libvips and has
 * src/assets/native.ts write them to disk. Their hashes are fixed here, at build time.
 */
export function embedSharp(root: string, packages: NativePackages): BunPlugin {
  return {
    name: "embed-sharp",
    setup(build) {
      build.onLoad({ filter: /[\\/]sharp[\\/]dist[\\/]sharp\.mjs$/ }, async () => ({
        contents: await sharpModule(root, packages),
        loader: "js",
      }));
      build.onLoad({ filter: /[\\/]sharp[\\/]dist[\\/]sharp\.cjs$/ }, () => {
        throw new Error("sharp is required somewhere; only `import` is prepared for the executable.");
      });
      build.onResolve({ filter: /^native:/ }, ({ path }) => ({
        path: path.slice("native:".length),
        namespace: "native",
      }));
      build.onLoad({ filter: /.*/, namespace: "native" }, async ({ path }) => ({
        contents: await Bun.file(path).bytes(),
        loader: "file",
      }));
    },
  };
}

async function sharpModule(root: string, packages: NativePackages): Promise<string> {
  const title = `sharp ${packages.sharpVersion} (libvips ${packages.libvipsVersion})`;
  const hashes = await Promise.all(packages.files.map((native) => hashOf(native.file)));
  const key = `sharp-${packages.sharpVersion}-${combined(hashes)}`;
  const imports = packages.files.map(
    (native, i) => `import file${i} from ${quote(`native:${native.file}`)};`,
  );
  const files = packages.files.map(
    (native, i) => `{ path: ${quote(native.path)}, source: file${i}, sha256: ${quote(hashes[i])} }`,
  );
  const addon = packages.files.find((native) => native.isAddon);
  return [
    ...imports,
    `import { loadNativeAddon } from ${quote(join(root, "src/assets/native.ts"))};`,
    `const sharp = loadNativeAddon({ key: ${quote(key)}, title: ${quote(title)}, addon: ${quote(addon?.path)}, files: [${files.join(", ")}] });`,
    ...(packages.sharp.endsWith("linux-x64") || packages.sharp.endsWith("linuxmusl-x64")
      ? [requireX64V2(title)]
      : []),
    "export default sharp;",
  ].join("\n");
}

/** Repeats the check of sharp's own loader. Without it an old CPU crashes with an illegal instruction. */
function requireX64V2(title: string): string {
  return `if (!sharp._isUsingX64V2()) throw new Error(${quote(`${title} needs a CPU with x86-64-v2 instructions.`)});`;
}

async function hashOf(file: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
}

function combined(hashes: readonly string[]): string {
  return new Bun.CryptoHasher("sha256").update(hashes.join("\n")).digest("hex").slice(0, 12);
}

function quote(text: string | undefined): string {
  if (text === undefined) throw new Error("A native package lacks a file the bundle needs.");
  return JSON.stringify(text);
}
