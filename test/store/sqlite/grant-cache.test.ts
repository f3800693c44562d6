import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createChangeWatch } from "../../../src/store/sqlite/change-watch.ts";
import { createGrantCache } from "../../../src/store/sqlite/grant-cache.ts";
import { NOW, temporaryDatabase } from "../../helpers/store.ts";

let file: ReturnType<typeof temporaryDatabase>;
let own: Database;
let other: Database;
const asked: string[] = [];

beforeEach(() => {
  file = temporaryDatabase();
  [own, other] = [new Database(file.path), new Database(file.path)];
  own.run("pragma journal_mode = wal");
  other.run("create table t (n)");
  asked.length = 0;
});
afterEach(() => {
  own.close();
  other.close();
  file.remove();
});

const cache = () =>
  createGrantCache(createChangeWatch(own), (hash) => {
    asked.push(hash);
    return hash === "unknown" ? undefined : { hash };
  });

test("a grant seen before is asked for no more while nobody else commits", () => {
  const { get } = cache();
  for (let ms = 0; ms < 5000; ms += 100) expect(get("a", NOW + ms)).toEqual({ hash: "a" });
  expect(asked).toEqual(["a"]);
});

test("a hash without a grant is asked for each time, and takes no room", () => {
  const { get } = cache();
  get("unknown", NOW);
  get("unknown", NOW);
  expect(asked).toEqual(["unknown", "unknown"]);
});

test("after another connection's commit every grant is asked for again within a second", () => {
  const { get } = cache();
  get("a", NOW);
  other.run("insert into t values (1)");
  get("a", NOW + 1000);
  expect(asked).toEqual(["a", "a"]);
});

test("a clock that was set back keeps no grant longer", () => {
  const { get } = cache();
  get("a", NOW);
  other.run("insert into t values (1)");
  get("a", NOW - 100_000);
  expect(asked).toEqual(["a", "a"]);
});

test("at most ten thousand grants are kept, the oldest going first", () => {
  const { get } = cache();
  for (let i = 0; i <= 10_000; i++) get(`hash ${i}`, NOW);
  asked.length = 0;
  get("hash 10000", NOW);
  get("hash 0", NOW);
  expect(asked).toEqual(["hash 0"]);
});
