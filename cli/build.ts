/*
 * Compile svc to one executable.
 *
 *   bun run build [--target linux-x64|linux-arm64|linux-x64-musl|linux-arm64-musl|darwin-x64|darwin-arm64|windows-x64]
 *                 [--outfile F]
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { writePack } from "../src/toolkit/file-pack.ts";
import { compileChecks, compileSchemas } from "./build/checks.ts";
import { buildConsole } from "./build/console.ts";
import { locateNativePackages } from "./build/native-packages.ts";
import { collectNotices } from "./build/notices.ts";
import {
  embedChecks,
  embedConsole,
  embedNotices,
  embedReference,
  embedSharp,
  withoutDevtools,
  withoutInspector,
} from "./build/plugins.ts";
import { readReference } from "./build/reference.ts";
import { findTarget, programOf, type Target } from "./build/targets.ts";

export type BuildOptions = {
  root: string;
  target: Target;
  outfile: string;
  /** Paths below `root`: the program, then its Workers. */
  entrypoints: readonly string[];
};

/** A Worker is a separate entry point and keeps its path: `/$bunfs/root/src/studio/worker.js`. */
export const ENTRYPOINTS = [
  "cli/main.ts",
  "src/studio/worker.ts",
  "src/assets/recording-worker.ts",
  "src/assets/svg-worker.ts",
  "src/assets/thumbnails/worker.ts",
  "src/app/books-worker.ts",
  "src/app/backup-worker.ts",
  "src/app/flush-worker.ts",
  "src/app/own-form-worker.ts",
  "src/app/own-manifest-worker.ts",
];

/** Builds one executable and reports on stderr. @returns the licence texts of what is inside */
export async function buildExecutable(options: BuildOptions): Promise<string> {
  const { root, target, outfile } = options;
  const startedAt = performance.now();
  await requirePinnedBun(root);
  const native = await locateNativePackages(root, target);
  const reference = await readReference(root);
  const browsers = await buildConsole(root);
  const plugins = [
    withoutDevtools,
    withoutInspector,
    embedSharp(root, native),
    embedReference(reference.gzipped),
    embedConsole(writePack(browsers.pack)),
    embedChecks(compileChecks(), compileSchemas()),
  ];
  const inputs = await listInputs(options, plugins);
  const notices = await collectNotices(root, [...inputs, ...reference.inputs, ...browsers.inputs], native);
  const compressed = new Uint8Array(Bun.zstdCompressSync(notices.text, { level: 19 }));
  await compile(options, [...plugins, embedNotices(compressed)]);
  const sizeMb = (Bun.file(outfile).size / 1e6).toFixed(1);
  process.stderr.write(
    `${outfile}: ${target.name}, ${sizeMb} MB, ${Math.round(performance.now() - startedAt)} ms\n`,
  );
  const without = notices.withoutLicenceFile.join(", ") || "none";
  process.stderr.write(`third-party notices: ${notices.packageCount}; without a licence file: ${without}\n`);
  return notices.text;
}

/** Bundles without compiling, to learn which packages end up inside. */
async function listInputs(options: BuildOptions, plugins: BunPlugin[]): Promise<string[]> {
  const result = await Bun.build({
    ...bundleOptions(options, [...plugins, embedNotices(new Uint8Array())]),
    metafile: true,
  });
  if (!result.metafile) throw new Error("The bundler reported no inputs.");
  return Object.keys(result.metafile.inputs);
}

async function compile(options: BuildOptions, plugins: BunPlugin[]): Promise<void> {
  const { target, outfile } = options;
  mkdirSync(dirname(outfile), { recursive: true });
  // Build in a temporary folder and rename, so that a running executable is replaced, not overwritten. The
  // source maps beside it are left behind: stack traces read the copy inside the executable.
  const workshop = mkdtempSync(join(dirname(outfile), ".build-"));
  try {
    // For Windows, Bun adds the ending where it is missing.
    const built = join(workshop, programOf(target));
    await Bun.build({
      ...bundleOptions(options, plugins),
      minify: true,
      bytecode: true,
      sourcemap: "linked",
      compile: { target: target.bun, outfile: built, autoloadDotenv: false, autoloadBunfig: false },
    });
    renameSync(built, outfile);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

function bundleOptions({ root, entrypoints }: BuildOptions, plugins: BunPlugin[]): Bun.BuildConfig {
  return {
    root,
    entrypoints: entrypoints.map((path) => join(root, path)),
    target: "bun",
    format: "esm",
    // A command loads only the chunks that it needs.
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins,
  };
}

/** Refuses any other Bun than the pinned one: the executable contains the Bun that builds it. */
async function requirePinnedBun(root: string): Promise<void> {
  const pinned = (await Bun.file(join(root, ".bun-version")).text()).trim();
  if (Bun.version !== pinned)
    throw new Error(`This is Bun ${Bun.version}; build with ${pinned} (npx -y bun@${pinned} run build).`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { target: { type: "string" }, outfile: { type: "string" } },
  });
  const root = join(import.meta.dir, "..");
  const target = findTarget(root, values.target);
  const fallback =
    values.target === undefined ? "dist/svc" : programOf(target).replace("svc", `dist/svc-${target.name}`);
  const outfile = resolve(values.outfile ?? join(root, fallback));
  await buildExecutable({ root, target, outfile, entrypoints: ENTRYPOINTS });
}
