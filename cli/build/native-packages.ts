import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Target } from "./targets.ts";

/** sharp's native part for one platform: the addon and the shared libraries it links to. */
export type NativePackages = {
  /** Folders of `@img/sharp-<platform>` and `@img/sharp-libvips-<platform>`; for Windows one has both. */
  sharp: string;
  libvips: string;
  sharpVersion: string;
  libvipsVersion: string;
  files: readonly NativeSource[];
};

/** `path` is relative to the folder that holds both packages; the addon's run path relies on it. */
export type NativeSource = { path: string; file: string; isAddon: boolean };

/** Finds the platform's packages. Installs them beside the build when they are for another platform. */
export async function locateNativePackages(root: string, target: Target): Promise<NativePackages> {
  const own = join(root, "node_modules");
  const modules = hasPackages(own, target) ? own : await installFor(root, target);
  const sharp = join(modules, "@img", `sharp-${target.sharp}`);
  const libvips = join(modules, "@img", libvipsOf(target));
  const sharpVersion = await versionOf(sharp);
  const expected = await versionOf(join(own, "sharp"));
  if (sharpVersion !== expected)
    throw new Error(`${sharp} is version ${sharpVersion}, sharp itself is ${expected}.`);
  const versions: { vips: string } = await Bun.file(join(libvips, "versions.json")).json();
  return {
    sharp,
    libvips,
    sharpVersion,
    libvipsVersion: versions.vips,
    files: [...new Set([sharp, libvips])].flatMap(sources),
  };
}

/**
 * Installs a second copy from the same lockfile, so that versions and integrity hashes are the project's.
 * node_modules stays unchanged.
 */
async function installFor(root: string, target: Target): Promise<string> {
  const folder = join(root, "dist/.native", target.name);
  const modules = join(folder, "node_modules");
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "bun.lock"]) copyFileSync(join(root, file), join(folder, file));
  const flags = ["--frozen-lockfile", "--production", "--ignore-scripts", "--silent"];
  const platform = [
    `--os=${target.os}`,
    `--cpu=${target.cpu}`,
    ...(target.libc ? [`--libc=${target.libc}`] : []),
  ];
  const child = Bun.spawn([process.execPath, "install", ...flags, ...platform], {
    cwd: folder,
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`Installing the packages for ${target.name} failed.`);
  if (!hasPackages(modules, target)) throw new Error(`The lockfile has no sharp for ${target.name}.`);
  return modules;
}

function hasPackages(modules: string, target: Target): boolean {
  const image = join(modules, "@img");
  return existsSync(join(image, `sharp-${target.sharp}`)) && existsSync(join(image, libvipsOf(target)));
}

/** For Windows, libvips lies in the addon's own package. */
const libvipsOf = ({ os, sharp }: Target): string =>
  os === "win32" ? `sharp-${sharp}` : `sharp-libvips-${sharp}`;

function sources(folder: string): NativeSource[] {
  const names = readdirSync(join(folder, "lib")).filter((name) => /\.(node|dll|dylib|so)(\.|$)/.test(name));
  if (names.length === 0) throw new Error(`${folder} holds no native library.`);
  return names.sort().map((name) => ({
    path: `${basename(folder)}/lib/${name}`,
    file: join(folder, "lib", name),
    isAddon: name.endsWith(".node"),
  }));
}

async function versionOf(folder: string): Promise<string> {
  const manifest: { version: string } = await Bun.file(join(folder, "package.json")).json();
  return manifest.version;
}
