import { afterEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaneId } from "../../src/domain/ids.ts";
import { forgetKey, keepKey, openKey } from "../../src/runtime/kept-keys.ts";
import { createSeal } from "../../src/runtime/seal.ts";

const SECRETS = { access_key: "ak-0123456789", secret_key: "sk-0123456789" };
const OPENED = { kind: "opened", secrets: SECRETS } as const;
const [OLD, NEW] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"));

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "svc-kept-"));
  folders.push(folder);
  const at = (lane: string) => ({
    path: join(folder, "provider-keys", `${lane.replace("/", ".")}.json`),
    lane: lane as LaneId,
  });
  const sealWith = (key: string | undefined, previousKey?: string) =>
    createSeal({ key, previousKey, file: join(folder, "secret.key") });
  return { folder: join(folder, "provider-keys"), at, sealWith };
}

test("what is kept opens again, and lies nowhere in the clear or open to others", () => {
  const { folder, at, sealWith } = setup();
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  expect(openKey(at("kling"), sealWith(OLD))).toEqual(OPENED);
  expect(readdirSync(folder)).toEqual(["kling.json"]);
  const text = readFileSync(at("kling").path, "utf8");
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
  expect([statSync(folder).mode & 0o777, statSync(at("kling").path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("what writers that were killed left of a key goes when it is kept anew or forgotten, and other keys stay", () => {
  const { folder, at, sealWith } = setup();
  const leave = (name: string, atSec = Date.now() / 1000) => {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), atSec, atSec);
  };
  const [own, gone] = [process.pid, 2 ** 22 + 1];
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  leave(`kling.json.${gone}.part`);
  leave(`kling.json.${process.ppid}.part`);
  leave(`kling.second.json.${gone}.part`);
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  // A process of that number may be writing it.
  const living = `kling.json.${process.ppid}.part`;
  expect(readdirSync(folder).sort()).toEqual(["kling.json", living, `kling.second.json.${gone}.part`].sort());
  leave(living, 0);
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  expect(readdirSync(folder)).not.toContain(living);
  leave(`kling.json.${own}.part`);
  expect(forgetKey(at("kling"))).toBe(true);
  expect(forgetKey(at("kling/second"))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test("another account's file opens for none", () => {
  const { at, sealWith } = setup();
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  renameSync(at("kling").path, at("kling/second").path);
  expect(openKey(at("kling/second"), sealWith(OLD))).toEqual({ kind: "locked" });
});

test("with another key in use it is opened by the one before, and sealed anew", () => {
  const { at, sealWith } = setup();
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  expect(openKey(at("kling"), sealWith(NEW))).toEqual({ kind: "locked" });
  expect(openKey(at("kling"), sealWith(NEW, OLD))).toEqual(OPENED);
  expect(openKey(at("kling"), sealWith(NEW))).toEqual(OPENED);
});

test("a file that is no kept key opens for nobody, and a second key replaces the first", () => {
  const { at, sealWith } = setup();
  const seal = sealWith(OLD);
  expect(openKey(at("kling"), seal)).toEqual({ kind: "absent" });
  keepKey(at("kling"), seal, SECRETS);
  for (const text of ["", "{}", "[]", '{"key":7}']) {
    writeFileSync(at("kling").path, text);
    expect(openKey(at("kling"), seal)).toEqual({ kind: "spoilt" });
  }
  writeFileSync(at("kling").path, '{"key":"clear"}');
  expect(openKey(at("kling"), seal)).toEqual({ kind: "locked" });
  rmSync(at("kling").path);
  mkdirSync(at("kling").path);
  expect(openKey(at("kling"), seal)).toEqual({ kind: "unreadable", reason: expect.any(String) });
  rmSync(at("kling").path, { recursive: true });
  keepKey(at("kling"), seal, { access_key: "other" });
  expect(openKey(at("kling"), seal)).toEqual({ kind: "opened", secrets: { access_key: "other" } });
});

test("what is forgotten is gone, and was there only once", () => {
  const { at, sealWith } = setup();
  keepKey(at("kling"), sealWith(OLD), SECRETS);
  expect([forgetKey(at("kling")), forgetKey(at("kling"))]).toEqual([true, false]);
  expect(openKey(at("kling"), sealWith(OLD))).toEqual({ kind: "absent" });
});
