import { expect, test } from "bun:test";
import { bringOwners } from "../../src/app/import-owners.ts";
import type { AccountId } from "../../src/domain/ids.ts";
import type { Brought } from "../../src/domain/ports/import-store.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { createIds } from "../../src/runtime/ids.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import type { ManageAccountDeps } from "../../src/service/management.ts";

/** Imports a key that gets a new secret into a store that answers so. @returns what became of the secrets, and the error */
async function bringKey(answer: () => Brought) {
  const clock = createSystemClock();
  const deps = {
    ...{ actor: { kind: "local", name: "test" }, clock, ids: createIds(clock) },
    ...{ secrets: createSecrets(), addresses: createAddresses() },
    // The stores are not asked.
  } as unknown as ManageAccountDeps;
  const told: string[] = [];
  const held = { origin: "1", name: "odd", display: "sk-...d1e2", terms: {}, notes: [] };
  const owners = { accounts: [], items: [], keys: [{ held, name: "odd", account: { id: "acc_1" } }] };
  const error = await bringOwners(owners, {
    ...{ name: "litellm", deps, fallback: "acc_1" as AccountId },
    imports: { marks: async () => [], bringIn: async () => answer() },
    keep(secrets) {
      told.push(...secrets.map(({ name }) => `kept ${name}`));
      return () => void told.push("forgotten");
    },
  }).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  );
  return { told, error };
}

test("new secrets are kept before their keys come", async () => {
  expect(await bringKey(() => ({ kind: "brought" }))).toEqual({ told: ["kept odd"], error: undefined });
});

test("new secrets are forgotten when a clash keeps their keys from coming", async () => {
  const { told, error } = await bringKey(() => ({ kind: "clash", of: "key", name: "odd" }));
  expect(told).toEqual(["kept odd", "forgotten"]);
  expect(error).toContain("odd clashes with one that has come here meanwhile");
});

test("new secrets stay when nobody knows whether their keys came", async () => {
  const { told } = await bringKey(() => {
    throw new Error("The disk is full.");
  });
  expect(told).toEqual(["kept odd"]);
});
