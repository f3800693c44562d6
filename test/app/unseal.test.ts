import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sealOf } from "../../src/app/data-folder.ts";
import { keptKeyOf } from "../../src/app/settings.ts";
import { createUnseal } from "../../src/app/unseal.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { forgetKey, keepKey } from "../../src/runtime/kept-keys.ts";
import { createSecret } from "../../src/toolkit/settings/secret.ts";

const FAL = "fal" as LaneId;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function setup() {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-unseal-"));
  folders.push(dataDir);
  const key = keptKeyOf(dataDir, FAL);
  const faults: string[] = [];
  const unsealWith = (secretKey?: string) =>
    createUnseal(
      { dataDir, ...(secretKey !== undefined && { secretKey: createSecret(secretKey) }) },
      (lane, fault) => faults.push(`${lane}: ${fault}`),
    );
  return {
    ...{ key, faults, unsealWith },
    keep: (secret: string) => keepKey(key, sealOf({ dataDir }), { key: secret }),
  };
}

test("a key that was opened stays in use when it is removed or replaced, and no key shows", () => {
  const { key, faults, unsealWith, keep } = setup();
  const unseal = unsealWith();
  keep("key-1");
  expect(unseal(FAL)?.key?.reveal()).toBe("key-1");
  keep("key-2");
  expect(unseal(FAL)?.key?.reveal()).toBe("key-1");
  forgetKey(key);
  expect(unseal(FAL)?.key?.reveal()).toBe("key-1");
  expect(JSON.stringify(unseal(FAL))).not.toContain("key-1");
  expect(faults).toEqual([]);
});

test("a key that cannot be used is told with its cause, and looked for again", () => {
  const { key, faults, unsealWith, keep } = setup();
  const unseal = unsealWith();
  expect(unseal(FAL)).toBeUndefined();
  keep("key-1");
  writeFileSync(key.path, "{");
  expect(unseal(FAL)).toBeUndefined();
  keep("key-1");
  rmSync(join(key.path, "../../secret.key"));
  expect(unsealWith("another key")(FAL)).toBeUndefined();
  expect(faults).toEqual([
    "fal: the kept key of fal is gone, so it stays off: keep it anew with `svc providers add`",
    `fal: the kept key of fal is not what svc wrote to ${key.path}, so it stays off: put the right file back, or keep it anew with \`svc providers add\``,
    "fal: the kept key of fal is sealed with another key, so it stays off: give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, or keep it anew with `svc providers add`",
  ]);
  expect(unseal(FAL)).toBeUndefined();
  keep("key-3");
  expect(unseal(FAL)?.key?.reveal()).toBe("key-3");
});
