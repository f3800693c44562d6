import { afterEach, beforeEach, expect, test } from "bun:test";
import type { LaneId } from "../../../src/domain/ids.ts";
import type { RouteTrouble } from "../../../src/domain/ports/route-store.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { ACCOUNT, accountId, bySystem, NOW } from "../../helpers/store.ts";

let file: ReturnType<typeof migratedFile>;
let own: Store;
let other: Store;

beforeEach(() => {
  file = migratedFile();
  [own, other] = [openStore({ path: file.path }), openStore({ path: file.path })];
});
afterEach(async () => {
  await own.stop();
  await other.stop();
  file.remove();
});

const ROUTE = { lane: "fal/second" as LaneId, upstreamModel: "flux" };
const TROUBLE: RouteTrouble = { ...ROUTE, kind: "blocked", detail: "by hand", since: NOW, times: 1 };

test("what is known of a route is kept whole, and replaced", async () => {
  await own.routes.set({ ...TROUBLE, kind: "open", until: NOW + 1, times: 3 });
  expect(await own.routes.troubles()).toEqual([{ ...TROUBLE, kind: "open", until: NOW + 1, times: 3 }]);
  await own.routes.set(TROUBLE);
  expect(await own.routes.troubles()).toEqual([TROUBLE]);
  await own.routes.clear(ROUTE, bySystem());
  expect(await own.routes.troubles()).toEqual([]);
  const theirs = { ...TROUBLE, kind: "open", callers: [ACCOUNT, accountId(2)], servesOthers: true } as const;
  await own.routes.set(theirs);
  expect(await own.routes.troubles()).toEqual([theirs]);
  await own.routes.set({ ...theirs, callers: undefined, servesOthers: undefined });
  expect(await own.routes.troubles()).toEqual([{ ...TROUBLE, kind: "open" }]);
});

test("a block ends by an operator alone, whatever a process finds out that has not heard of it", async () => {
  await other.routes.set(TROUBLE, bySystem());
  await own.routes.set({ ...TROUBLE, kind: "open", until: NOW + 1 });
  await own.routes.clear(ROUTE);
  expect(await own.routes.troubles()).toEqual([TROUBLE]);
  await own.routes.set({ ...TROUBLE, detail: "again" }, bySystem());
  expect(await own.routes.troubles()).toEqual([{ ...TROUBLE, detail: "again" }]);
  await own.routes.clear(ROUTE, bySystem());
  expect(await own.routes.troubles()).toEqual([]);
});

test("what another process changes is read once, within half a second, and own changes are not", async () => {
  await own.routes.changedTroubles(NOW);
  await own.routes.set({ ...TROUBLE, detail: "own" });
  expect(await own.routes.changedTroubles(NOW + 500)).toBeUndefined();
  await other.routes.set(TROUBLE, bySystem());
  expect(await own.routes.changedTroubles(NOW + 600)).toBeUndefined();
  expect(await own.routes.changedTroubles(NOW + 1000)).toEqual([TROUBLE]);
  expect(await own.routes.changedTroubles(NOW + 2000)).toBeUndefined();
  await other.routes.clear(ROUTE, bySystem());
  expect(await own.routes.changedTroubles(NOW + 3000)).toEqual([]);
});
