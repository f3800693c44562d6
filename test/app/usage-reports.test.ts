import { expect, test } from "bun:test";
import { createUsageReports, type KeptUsage } from "../../src/app/usage-reports.ts";
import type { UsageQuery } from "../../src/domain/ports/usage-store.ts";
import type { UsageRead } from "../../src/store/usage-reading.ts";

const QUERY: UsageQuery = { from: 0, to: 1, by: "model" };
const NOTHING: UsageRead = { lines: [], pages: new Map(), first: 0 };
const found = (page: number) => ({ pages: new Map([[page, { generation: 0, sums: "[]" }]]), first: 0 });

/** Reports that note the pages they find kept, and pages that are read on one at a time, when the test says so. */
function reading() {
  const seen: (readonly number[])[] = [];
  const ways: PromiseWithResolvers<void>[] = [];
  let begun = 0;
  const report = createUsageReports(2, {
    async read(_, { pages }: KeptUsage) {
      seen.push([...pages().keys()]);
      return NOTHING;
    },
    async *readOn() {
      begun += 1;
      for (let page = 1; ; page++) {
        const way = Promise.withResolvers<void>();
        ways.push(way);
        await way.promise;
        yield found(page);
      }
    },
  });
  return { report, seen, ways, begun: () => begun };
}

test("a report does not wait for what is read to be kept, and the next one finds as much of it as was read", async () => {
  const { report, seen, ways, begun } = reading();
  await report(QUERY);
  await report(QUERY);
  expect(ways).toHaveLength(1);
  ways[0]?.resolve();
  while (ways.length < 2) await Promise.resolve();
  await report(QUERY);
  expect([seen, begun()]).toEqual([[[], [], [1]], 1]);
});

test("reading on that failed begins again with the next report", async () => {
  const { report, ways, begun } = reading();
  await report(QUERY);
  ways[0]?.reject(new Error("The database is away."));
  await Bun.sleep(0);
  await report(QUERY);
  expect(begun()).toBe(2);
});
