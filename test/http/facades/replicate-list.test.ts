import { expect, test } from "bun:test";
import { type AccountId, firstTaskIdAt } from "../../../src/domain/ids.ts";
import type { TaskStore } from "../../../src/domain/ports/task-store.ts";
import type { TaskSummary } from "../../../src/domain/task/task.ts";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import { listPredictions } from "../../../src/http/facades/replicate/list.ts";

const BEGAN = Date.parse("2026-11-30T00:00:00Z");
/** One for each second, the newest first. */
const ALL = Array.from({ length: 300 }, (_, i) => {
  const createdAt = BEGAN + (299 - i) * 1000;
  return { id: firstTaskIdAt(createdAt), createdAt } as TaskSummary;
});

const tasks: Pick<TaskStore, "list"> = {
  async list({ after, limit }, order = "newest") {
    const inOrder = order === "newest" ? ALL : ALL.toReversed();
    const from = inOrder.findIndex(
      ({ id }) => after === undefined || (order === "newest" ? id < after : id > after),
    );
    return from === -1 ? [] : inOrder.slice(from, from + limit);
  },
};

async function page(query: string) {
  const exchange = {
    principal: { accountId: "acc_1" as AccountId },
    origin: "http://svc.test",
    query: () => new URLSearchParams(query),
  } as KeyedExchange;
  const tell = ({ createdAt }: TaskSummary) => ({ text: String((createdAt - BEGAN) / 1000), output: null });
  const { body } = await listPredictions({ tasks, tell }, exchange);
  const { results, next, previous } = JSON.parse(String(body)) as {
    results: number[];
    next: string | null;
    previous: string | null;
  };
  const queryOf = (address: string | null) => address && new URL(address).search.slice(1);
  return { first: results[0], count: results.length, last: results.at(-1), next, previous, queryOf };
}

const at = (second: number) => new Date(BEGAN + second * 1000).toISOString();

test("pages of a time follow each other, and end where the time does", async () => {
  const query = `created_after=${at(150)}&created_before=${at(290)}`;
  const newest = await page(query);
  expect(newest).toMatchObject({ first: 289, count: 100, last: 190, previous: null });
  const second = await page(newest.queryOf(newest.next) ?? "");
  expect(second).toMatchObject({ first: 189, count: 40, last: 150, next: null });
  const back = await page(second.queryOf(second.previous) ?? "");
  expect(back).toMatchObject({ first: 289, count: 100, last: 190 });
});

test("pages without a time follow each other through all", async () => {
  const newest = await page("");
  expect(newest).toMatchObject({ first: 299, count: 100, previous: null });
  const second = await page(newest.queryOf(newest.next) ?? "");
  expect(second).toMatchObject({
    first: 199,
    count: 100,
    previous: "http://svc.test/replicate/v1/predictions",
  });
  expect(await page(second.queryOf(second.next) ?? "")).toMatchObject({ first: 99, last: 0, next: null });
});

test("nothing was created before the time that ids begin with", async () => {
  expect(await page("created_before=1960-01-01T00:00:00Z")).toMatchObject({ count: 0, next: null });
});
