/*
 * Make the files of a release: an archive for each platform, their checksums, and a bill of materials.
 *
 *   bun run release [--outdir dist/release] [--target linux-x64 …]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable, ENTRYPOINTS } from "../build.ts";
import { type Packed, packArchive } from "./archive.ts";
import { writeBill } from "./bill.ts";
import { locateNativePackages } from "./native-packages.ts";
import { findTarget, programOf, RELEASED, type Target } from "./targets.ts";

export interface ReleaseOptions {
  readonly root: string;
  readonly outdir: string;
  readonly targets: readonly Target[];
}

/** Makes the files. Times and owners in the archives are the commit's and root's, whoever makes them. @returns their names */
export async function makeRelease({ root, outdir, targets }: ReleaseOptions): Promise<string[]> {
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const modifiedSec = await commitTimeSec(root);
  mkdirSync(outdir, { recursive: true });
  const bill = writeBill({
    root,
    name,
    version,
    platforms: targets.map(({ sharp }) => sharp),
    libraries: await librariesOf(root, targets),
    modifiedSec,
  });
  const made = new Map([[`${name}-${version}.cdx.json`, new TextEncoder().encode(bill)]]);
  for (const target of targets) {
    const folder = `${name}-${version}-${target.name}`;
    const files = await filesOf(root, target, bill);
    const inside = files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
    made.set(`${folder}.tar.gz`, new Uint8Array(packArchive(inside, modifiedSec)));
  }
  const sums = [...made].map(([file, bytes]) => `${sha256(bytes)}  ${file}\n`);
  made.set("SHA256SUMS", new TextEncoder().encode(sums.join("")));
  for (const [file, bytes] of made) writeFileSync(join(outdir, file), bytes);
  return [...made.keys()];
}

async function filesOf(root: string, target: Target, bill: string): Promise<Packed[]> {
  mkdirSync(join(root, "dist"), { recursive: true });
  const workshop = mkdtempSync(join(root, "dist/.release-"));
  try {
    const program = programOf(target);
    const outfile = join(workshop, program);
    const notices = await buildExecutable({ root, target, outfile, entrypoints: ENTRYPOINTS });
    const text = (path: string, content: string): Packed => ({
      path,
      bytes: new TextEncoder().encode(content),
    });
    const own = ["LICENSE", "README.md", "CHANGELOG.md"];
    return [
      { path: program, bytes: readFileSync(outfile), isProgram: true },
      ...own.map((path) => text(path, readFileSync(join(root, path), "utf8"))),
      text("THIRD-PARTY-NOTICES.txt", notices),
      text("bom.cdx.json", bill),
    ];
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

async function librariesOf(root: string, targets: readonly Target[]): Promise<Record<string, string>> {
  const [target] = targets;
  if (target === undefined) return {};
  const { libvips } = await locateNativePackages(root, target);
  return JSON.parse(readFileSync(join(libvips, "versions.json"), "utf8"));
}

/** The time of the commit, so that a second run makes the same files; of the epoch where there is no history. */
async function commitTimeSec(root: string): Promise<number> {
  const child = Bun.spawn(["git", "log", "-1", "--format=%ct"], {
    cwd: root,
    stdout: "pipe",
    stderr: "ignore",
  });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  return code === 0 ? Number(text.trim()) : 0;
}

const sha256 = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

if (import.meta.main) {
  const { values } = parseArgs({
    options: { outdir: { type: "string" }, target: { type: "string", multiple: true } },
  });
  const root = join(import.meta.dir, "../..");
  const outdir = resolve(values.outdir ?? join(root, "dist/release"));
  const targets = (values.target ?? RELEASED).map((name) => findTarget(root, name));
  for (const file of await makeRelease({ root, outdir, targets }))
    process.stdout.write(`${join(outdir, file)}\n`);
}
