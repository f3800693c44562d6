import { expect, test } from "bun:test";
import type { ApiKey } from "../../src/domain/access/account.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import { quotaVerbs } from "../../src/service/list-quotas.ts";
import type { ManageAccountDeps } from "../../src/service/management.ts";
import { ACCOUNT, keyId, NOW } from "../helpers/store.ts";

const KEYS = 40;
const LIMIT = toMicros(KEYS);

const keys = Array.from({ length: KEYS }, (_, i) => ({
  ...{ id: keyId(i + 1), accountId: ACCOUNT, name: `key ${i}` },
  policy: { quota: { limit: LIMIT, reset: "total" } },
})) as unknown as ApiKey[];

test("other work runs while the quotas of many keys are read, and the least left comes first", async () => {
  let readInTurn = 0;
  let most = 0;
  let isOver = false;
  const endTurn = () => {
    readInTurn = 0;
    if (!isOver) setImmediate(endTurn);
  };
  endTurn();
  const accounts = {
    accountNames: async () => new Map([[ACCOUNT, "studio"]]),
    keys: async () => keys,
    async keyQuotas(asked: readonly Pick<ApiKey, "id">[]) {
      readInTurn += asked.length;
      most = Math.max(most, readInTurn);
      return asked.map(({ id }) => ({
        used: toMicros(keys.findIndex((key) => key.id === id)),
        reserved: toMicros(0),
      }));
    },
  };
  const deps = { accounts, clock: { now: () => NOW } } as unknown as ManageAccountDeps;
  const { items: listed } = await quotaVerbs(deps).listQuotas();
  isOver = true;
  expect(listed.map(({ key }) => key.name)).toEqual(keys.map(({ name }) => name).reverse());
  expect(listed[0]).toMatchObject({ account: { name: "studio" }, quota: { remaining: toMicros(1) } });
  expect(most).toBeLessThan(KEYS / 2);
});
