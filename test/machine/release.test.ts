import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { packArchive } from "../../cli/build/archive.ts";
import { writeBill } from "../../cli/build/bill.ts";
import { makeRelease } from "../../cli/build/release.ts";
import { findTarget, RELEASED } from "../../cli/build/targets.ts";
import packageJson from "../../package.json" with { type: "json" };
import { cleanEnvironment, emptyFolder } from "../helpers/server.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");
const { name, version } = packageJson;
const SCHEMAS = join(ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
const BUILD_WITHIN_MS = 180_000;

interface Bill {
  readonly metadata: { readonly component: { readonly "bom-ref": string } };
  readonly components: readonly { readonly "bom-ref": string; readonly hashes?: readonly object[] }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const billFor = (platforms: readonly string[]): Bill =>
  JSON.parse(
    writeBill({ root: ROOT, name, version, platforms, libraries: { vips: "8.18.7" }, modifiedSec: 0 }),
  );

describe("the bill of materials", () => {
  const bill = billFor(RELEASED.map((target) => findTarget(ROOT, target).sharp));
  const refs = bill.components.map((component) => component["bom-ref"]);

  test("is CycloneDX 1.6, by its published schema", () => {
    const schema = (file: string) =>
      JSON.parse(readFileSync(join(SCHEMAS, `${file}.SNAPSHOT.schema.json`), "utf8"));
    // Formats are of addresses and mails, which it has none of.
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const part of ["spdx", "jsf-0.82", "cryptography-defs"])
      ajv.addSchema(schema(part), `http://cyclonedx.org/schema/${part}.SNAPSHOT.schema.json`);
    const validate = ajv.compile(schema("bom-1.6"));
    validate(bill);
    expect(validate.errors).toBeNull();
    validate({ ...bill, components: [{ type: "library" }] });
    expect(validate.errors).not.toBeNull();
  });

  test("has every runtime dependency with its hash, Bun, libvips, and the native packages of each platform", () => {
    const wanted = [
      ...Object.entries(packageJson.dependencies).map(
        ([each, at]) => `pkg:npm/${each.replace("@", "%40")}@${at}`,
      ),
      ...RELEASED.map(
        (target) =>
          `pkg:npm/%40img/sharp-${findTarget(ROOT, target).sharp}@${packageJson.dependencies.sharp}`,
      ),
      `pkg:generic/bun@${Bun.version}`,
      "pkg:generic/vips@8.18.7",
    ];
    expect(wanted.filter((ref) => !refs.includes(ref))).toEqual([]);
    const unhashed = bill.components.filter((each) => each["bom-ref"].startsWith("pkg:npm/") && !each.hashes);
    expect(unhashed).toEqual([]);
    expect(refs.filter((ref) => /typescript@|biome@|freebsd|musl/.test(ref))).toEqual([]);
  });

  test("names each part once, and says of each what it needs", () => {
    expect(new Set(refs).size).toBe(refs.length);
    const known = new Set([bill.metadata.component["bom-ref"], ...refs]);
    expect(new Set(bill.dependencies.map(({ ref }) => ref))).toEqual(known);
    const unknown = bill.dependencies.flatMap(({ dependsOn }) => dependsOn.filter((ref) => !known.has(ref)));
    expect(unknown).toEqual([]);
  });
});

test("an archive is the same twice, and keeps what may be run apart", async () => {
  const files = [
    { path: "a/svc", bytes: new Uint8Array(700).fill(1), isProgram: true as const },
    { path: "a/empty", bytes: new Uint8Array() },
    { path: "a/text", bytes: new Uint8Array(512).fill(2) },
  ];
  const [first, second] = [packArchive(files, 1_000), packArchive(files, 1_000)];
  expect(Buffer.compare(first, second)).toBe(0);
  const folder = emptyFolder("archive");
  await Bun.write(join(folder, "a.tar.gz"), first);
  const listed = await Bun.$`tar -tvzf a.tar.gz --utc`.cwd(folder).text();
  expect(
    listed
      .trim()
      .split("\n")
      .map((line) => line.replaceAll(/\s+/g, " ")),
  ).toEqual([
    "-rwxr-xr-x root/root 700 1970-01-01 00:16 a/svc",
    "-rw-r--r-- root/root 0 1970-01-01 00:16 a/empty",
    "-rw-r--r-- root/root 512 1970-01-01 00:16 a/text",
  ]);
  await Bun.$`tar -xzf a.tar.gz`.cwd(folder);
  expect(readFileSync(join(folder, "a/text"))).toEqual(Buffer.alloc(512, 2));
  expect(() => packArchive([{ path: "x".repeat(101), bytes: new Uint8Array() }], 0)).toThrow(
    "too long a name",
  );
});

describe("a release for this machine", () => {
  const outdir = emptyFolder("release");
  const target = findTarget(ROOT, undefined);
  const folder = `${name}-${version}-${target.name}`;

  beforeAll(async () => {
    await makeRelease({ root: ROOT, outdir, targets: [target] });
  }, BUILD_WITHIN_MS);

  test("has an archive, a bill of materials, and their checksums, which are right", async () => {
    expect(readdirSync(outdir).sort()).toEqual([
      "SHA256SUMS",
      `${folder}.tar.gz`,
      `${name}-${version}.cdx.json`,
    ]);
    const checked = await Bun.$`sha256sum --check --strict SHA256SUMS`.cwd(outdir).quiet();
    expect([checked.exitCode, checked.stdout.toString().trim().split("\n").length]).toEqual([0, 2]);
  });

  test("unpacks to a program that runs, with the licences of everything inside", async () => {
    await Bun.$`tar -xzf ${folder}.tar.gz`.cwd(outdir);
    expect(readdirSync(join(outdir, folder)).sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "THIRD-PARTY-NOTICES.txt",
      "bom.cdx.json",
      "svc",
    ]);
    const svc = (...args: string[]) =>
      Bun.$`./svc ${args}`.cwd(join(outdir, folder)).env(cleanEnvironment()).quiet().text();
    expect(JSON.parse(await svc("version", "--json")).version).toBe(version);
    expect(readFileSync(join(outdir, folder, "THIRD-PARTY-NOTICES.txt"), "utf8")).toBe(
      await svc("version", "--licenses"),
    );
  });
});
