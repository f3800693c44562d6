import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { padding, readTar, TarError, tarEnd, tarHeader } from "../../src/backup/tar.ts";

const AT = Date.UTC(2026, 10, 23);

function archive(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const content = Buffer.from(text);
    return [tarHeader({ path, sizeBytes: content.length }, AT), content, padding(content.length)];
  });
  return Buffer.concat([...parts, tarEnd()]);
}

/** Gives bytes in pieces of any length. */
async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(bytes: Uint8Array, length = 700): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await readTar(inPieces(bytes, length), async ({ path }, content) => {
    const parts: Buffer[] = [];
    for await (const piece of content) parts.push(Buffer.from(piece));
    found[path] = Buffer.concat(parts).toString();
  });
  return found;
}

const FILES = {
  "data/svc.yaml": "log: { level: debug }\n",
  "data/empty": "",
  "data/models/käse.yaml": "id: käse\n",
  [`data/models/${"long/".repeat(40)}name.yaml`]: "x".repeat(1000),
};

test("an archive is read as it was written, in pieces of any length", async () => {
  for (const length of [1, 511, 512, 513, 100_000]) expect(await read(archive(FILES), length)).toEqual(FILES);
});

test("tar reads an archive, long and foreign names included", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-tar-"));
  const path = join(folder, "x.tar");
  writeFileSync(path, archive(FILES));
  const { stdout, exitCode } = Bun.spawnSync(["tar", "-tf", path], {
    env: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8" },
  });
  expect(exitCode).toBe(0);
  expect(stdout.toString().trim().split("\n").sort()).toHaveLength(Object.keys(FILES).length);
  expect(stdout.toString()).toContain("long/name.yaml");
});

test("an archive that tar writes is read, as long as it has only files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-tar-"));
  writeFileSync(join(folder, "a"), "text");
  const tar = (...args: string[]) =>
    Bun.spawnSync(["tar", "--format=ustar", "-C", folder, "-cf", "-", ...args]).stdout;
  expect(await read(tar("a"))).toEqual({ a: "text" });
  expect(read(tar("."))).rejects.toThrow(TarError);
});

test("an archive that is cut off at any place is refused", async () => {
  const whole = archive({ a: "text" });
  for (const length of [0, 1, 511, 512, 513, 1023, 1024]) {
    expect(read(whole.subarray(0, length))).rejects.toThrow("cut off");
  }
});

test("any changed bit of a header is noticed", async () => {
  const whole = archive({ a: "text" });
  for (const at of [0, 100, 124, 148, 156, 257]) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(read(changed)).rejects.toThrow(TarError);
  }
});
