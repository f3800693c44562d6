import { describe, expect, test } from "bun:test";
import type { Cache } from "../../../src/store/postgres/change-watch.ts";
import { createGrantCache } from "../../../src/store/postgres/grant-cache.ts";

/** A cache of texts whose reads the test answers, one after the other. */
function setup() {
  const reads: { hash: string; answer: (grant: string | undefined) => void; fail: () => void }[] = [];
  const told: string[] = [];
  let registered: Cache | undefined;
  const watch = {
    onChange: (_: string, cache: Cache) => {
      registered = cache;
    },
    tell: async (topic: string) => void told.push(topic),
  };
  const cache = createGrantCache<string>(watch, "keys", (hash) => {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    reads.push({ hash, answer: resolve, fail: () => reject(new Error("away")) });
    return promise;
  });
  async function read(hash: string, grant: string | undefined) {
    const got = cache.get(hash);
    reads.at(-1)?.answer(grant);
    return got;
  }
  return { cache, reads, told, read, watched: registered! };
}

describe("grants at hand", () => {
  test("one that was read is at hand, and those who ask meanwhile share a read", async () => {
    const { cache, reads } = setup();
    const [first, second] = [cache.get("a"), cache.get("a")];
    reads[0]?.answer("grant");
    expect(await Promise.all([first, second])).toEqual(["grant", "grant"]);
    expect(cache.get("a")).toBe("grant");
    expect(reads).toHaveLength(1);
  });

  test("a hash without a grant is looked up each time", async () => {
    const { cache, read } = setup();
    expect(await read("a", undefined)).toBeUndefined();
    expect(await read("a", "grant")).toBe("grant");
    expect(cache.get("a")).toBe("grant");
  });

  test("one that has aged is at hand while it is read anew", async () => {
    const { cache, reads, read, watched } = setup();
    await read("a", "old");
    watched.age();
    expect([cache.get("a"), cache.get("a")]).toEqual(["old", "old"]);
    expect(reads).toHaveLength(2);
    reads[1]?.answer("new");
    await Bun.sleep(0);
    expect(cache.get("a")).toBe("new");
    watched.age();
    expect(cache.get("a")).toBe("new");
  });

  test("one that has aged twice is read before it is used, and so is one that could not be read anew", async () => {
    const { cache, reads, read, watched } = setup();
    await read("a", "old");
    watched.age();
    expect(cache.get("a")).toBe("old");
    reads[1]?.fail();
    await Bun.sleep(0);
    expect(cache.get("a")).toBe("old");
    watched.age();
    expect(cache.get("a")).toBeInstanceOf(Promise);
  });

  test("one that is gone when it is read anew is at hand no more", async () => {
    const { cache, reads, read, watched } = setup();
    await read("a", "old");
    watched.age();
    cache.get("a");
    reads[1]?.answer(undefined);
    await Bun.sleep(0);
    expect(cache.get("a")).toBeInstanceOf(Promise);
  });

  test("what a read finds that began before a change is not kept, nor shared by those who ask after it", async () => {
    const { cache, reads, told } = setup();
    const before = cache.get("a");
    await cache.changed();
    const after = cache.get("a");
    reads[1]?.answer("new");
    expect(await after).toBe("new");
    reads[0]?.answer("old");
    expect(await before).toBe("old");
    expect([cache.get("a"), told]).toEqual(["new", ["keys"]]);
  });
});
