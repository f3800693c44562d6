import { existsSync } from "node:fs";
import { join } from "node:path";

/** A platform the executable is built for. */
export type Target = {
  name: string;
  /** What Bun calls it. */
  bun: Bun.Build.CompileTarget;
  /** What sharp's prebuilt packages call it: `@img/sharp-<sharp>`. */
  sharp: string;
  os: "linux" | "darwin" | "win32";
  cpu: "x64" | "arm64";
  libc?: "glibc" | "musl";
};

export const TARGETS: readonly Target[] = [
  { name: "linux-x64", bun: "bun-linux-x64", sharp: "linux-x64", os: "linux", cpu: "x64", libc: "glibc" },
  {
    name: "linux-arm64",
    bun: "bun-linux-arm64",
    sharp: "linux-arm64",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
  },
  {
    name: "linux-x64-musl",
    bun: "bun-linux-x64-musl",
    sharp: "linuxmusl-x64",
    os: "linux",
    cpu: "x64",
    libc: "musl",
  },
  {
    name: "linux-arm64-musl",
    bun: "bun-linux-arm64-musl",
    sharp: "linuxmusl-arm64",
    os: "linux",
    cpu: "arm64",
    libc: "musl",
  },
  { name: "darwin-x64", bun: "bun-darwin-x64", sharp: "darwin-x64", os: "darwin", cpu: "x64" },
  { name: "darwin-arm64", bun: "bun-darwin-arm64", sharp: "darwin-arm64", os: "darwin", cpu: "arm64" },
  { name: "windows-x64", bun: "bun-windows-x64", sharp: "win32-x64", os: "win32", cpu: "x64" },
];

/** What a release is made for. */
export const RELEASED: readonly string[] = [
  "linux-x64",
  "linux-arm64",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
];

/** The file name of a program for this target. */
export const programOf = ({ os }: Target): string => (os === "win32" ? "svc.exe" : "svc");

/** Finds the target called `name`; without a name, this machine's. */
export function findTarget(root: string, name: string | undefined): Target {
  if (name === undefined) return hostTarget(root);
  const target = TARGETS.find((candidate) => candidate.name === name);
  if (target) return target;
  throw new Error(`Unknown target ${name}. Choose one of: ${TARGETS.map((known) => known.name).join(", ")}.`);
}

/** Reads this machine's C library from the sharp package that was installed for it. */
function hostTarget(root: string): Target {
  const fitting = TARGETS.filter((target) => target.os === process.platform && target.cpu === process.arch);
  const installed = fitting.find((target) =>
    existsSync(join(root, "node_modules/@img", `sharp-${target.sharp}`)),
  );
  if (installed) return installed;
  throw new Error(
    `No prebuilt sharp for ${process.platform}-${process.arch} in node_modules. Run \`bun install\` on a supported platform.`,
  );
}
