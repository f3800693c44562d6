import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package of bun.lock: what it is, where from, what it needs, and the hash of its archive. */
type Locked = readonly [nameAndVersion: string, source: string, needs: Needs, integrity: string];
type Needs = {
  readonly [Kind in "dependencies" | "optionalDependencies" | "peerDependencies"]?: Readonly<
    Record<string, string>
  >;
} & { readonly optionalPeers?: readonly string[] };
interface Lock {
  readonly workspaces: { readonly "": Needs };
  readonly packages: Readonly<Record<string, Locked>>;
}

export interface BillOptions {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  /** What sharp calls the platforms that the release is for: only their native packages are inside. */
  readonly platforms: readonly string[];
  /** The versions of the libraries that libvips brings, by name. */
  readonly libraries: Readonly<Record<string, string>>;
  readonly modifiedSec: number;
}

/**
 * A software bill of materials, from bun.lock: every package that may be inside, Bun, and what libvips brings. The same lock file
 * and time make the same text.
 *
 * CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/, checked 2026-11-23).
 */
export function writeBill(options: BillOptions): string {
  const { root, name, version, libraries } = options;
  const text = readFileSync(join(root, "bun.lock"), "utf8");
  const lock = Bun.JSONC.parse(text) as Lock;
  const isInside = (locked: string) => !locked.startsWith("@img/sharp-") || isForPlatform(locked, options);
  const { keys, edges } = closure(lock, isInside);
  const refs = new Map(keys.map((key) => [key, purlOf(lock, key)]));
  const refOf = (key: string) => refs.get(key) ?? "";
  const own = `pkg:generic/${name}@${version}`;
  const bun = { ref: `pkg:generic/bun@${Bun.version}`, name: "bun", version: Bun.version };
  const brought = Object.entries(libraries).map(([library, at]) => ({
    ref: `pkg:generic/${encodeURIComponent(library)}@${at}`,
    name: library,
    version: at,
  }));
  const dependencies = new Map<string, Set<string>>([
    [own, new Set([bun.ref, ...brought.map(({ ref }) => ref), ...(edges.get("") ?? []).map(refOf)])],
    ...[bun, ...brought].map(({ ref }): [string, Set<string>] => [ref, new Set()]),
  ]);
  // The same version may be at several places of the tree.
  for (const key of keys) {
    const known = dependencies.get(refOf(key)) ?? new Set();
    dependencies.set(refOf(key), new Set([...known, ...(edges.get(key) ?? []).map(refOf)]));
  }
  const packages = new Map(keys.map((key) => [refOf(key), componentOf(root, lock, key)]));
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`${own}\n${text}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(options.modifiedSec * 1000).toISOString(),
      component: { type: "application", "bom-ref": own, name, version, licenses: [{ expression: "MIT" }] },
    },
    components: [
      ...[bun, ...brought].map((each) => ({
        type: "library",
        "bom-ref": each.ref,
        name: each.name,
        version: each.version,
        purl: each.ref,
      })),
      ...packages.values(),
    ],
    dependencies: [...dependencies].map(([ref, on]) => ({ ref, dependsOn: [...on].sort() })),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Everything that the project needs to run, and what needs what; the project itself is "". */
function closure(lock: Lock, isInside: (name: string) => boolean) {
  const edges = new Map<string, string[]>();
  const waiting = [""];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (edges.has(key)) continue;
    const needs = key === "" ? lock.workspaces[""] : lock.packages[key]?.[2];
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = needs ?? {};
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name));
    const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
    const found = names.filter(isInside).flatMap((name) => placeOf(lock, key, name) ?? []);
    edges.set(key, found);
    waiting.push(...found);
  }
  return { keys: [...edges.keys()].filter((key) => key !== "").sort(), edges };
}

/**
 * Where a package finds another: below itself, or below its parent folders. Undefined for an optional package that is not installed.
 */
function placeOf(lock: Lock, key: string, name: string): string | undefined {
  for (let at = key; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    const place = at === "" ? name : `${at}/${name}`;
    if (Object.hasOwn(lock.packages, place)) return place;
    if (at === "") return undefined;
  }
}

function isForPlatform(name: string, { platforms }: BillOptions): boolean {
  return platforms.some(
    (platform) => name === `@img/sharp-${platform}` || name === `@img/sharp-libvips-${platform}`,
  );
}

function nameAndVersion(lock: Lock, key: string): { name: string; version: string } {
  const text = lock.packages[key]?.[0] ?? "";
  const at = text.lastIndexOf("@");
  return { name: text.slice(0, at), version: text.slice(at + 1) };
}

/** The package's address (https://github.com/package-url/purl-spec, checked 2026-11-23). */
function purlOf(lock: Lock, key: string): string {
  const { name, version } = nameAndVersion(lock, key);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function componentOf(root: string, lock: Lock, key: string) {
  const { name, version } = nameAndVersion(lock, key);
  const [group, short] = name.startsWith("@") ? name.split("/", 2) : [undefined, name];
  const [algorithm, hash] = (lock.packages[key]?.[3] ?? "").split("-", 2);
  const licence = licenceOf(root, key);
  return {
    type: "library",
    "bom-ref": purlOf(lock, key),
    ...(group === undefined ? {} : { group }),
    name: short ?? name,
    version,
    ...(algorithm === "sha512" && hash !== undefined
      ? { hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }] }
      : {}),
    ...(licence === undefined ? {} : { licenses: [licence] }),
    purl: purlOf(lock, key),
  };
}

/** What an installed package declares; packages for other platforms are not installed. */
function licenceOf(root: string, key: string): object | undefined {
  const segments = key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];
  const manifest = join(root, "node_modules", segments.join("/node_modules/"), "package.json");
  if (!existsSync(manifest)) return undefined;
  const { license } = JSON.parse(readFileSync(manifest, "utf8")) as { license?: unknown };
  if (typeof license !== "string") return undefined;
  return /^[\w.+()-]+( (AND|OR|WITH) [\w.+()-]+)*$/.test(license)
    ? { expression: license }
    : { license: { name: license } };
}

/** A UUID of version 8 that is derived from a text. */
function uuidOf(text: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}
