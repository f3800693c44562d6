import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import { type ListQuery, listTasks } from "../../src/service/list-tasks.ts";
import type { Store } from "../../src/store/open.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import { ACCOUNT, accountId, addAccount, admit, NOW, newTask, taskId } from "../helpers/store.ts";

const CALLER = { ...PRINCIPAL, policy: { aliases: { mine: "sandbox-video" as ModelId } } };
const ALIASES = { everybodys: "sandbox-image" as ModelId };

const deps = { aliases: ALIASES, searchesPrompts: true };

let store: Store;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
});
afterEach(() => store.stop());

async function page(query: ListQuery = {}) {
  const { tasks, next } = await listTasks({ ...deps, tasks: store.tasks }, CALLER, query);
  return { ids: tasks.map(({ id }) => id), next };
}

test("pages follow one another by their cursors, and the last one has none", async () => {
  for (let number = 1; number <= 5; number++) await admit(store, { number });
  await addAccount(store, { id: accountId(2) });
  await admit(store, { number: 6, accountId: accountId(2) });
  const first = await page({ limit: "2" });
  expect(first).toEqual({ ids: [taskId(5), taskId(4)], next: taskId(4) });
  const second = await page({ limit: "2", after: first.next ?? "" });
  expect(second).toEqual({ ids: [taskId(3), taskId(2)], next: taskId(2) });
  expect(await page({ limit: "2", after: second.next ?? "" })).toEqual({ ids: [taskId(1)], next: null });
  expect((await page({ limit: "5" })).next).toBeNull();
});

test("twenty tasks are a page unless another number is asked for, up to a hundred", async () => {
  for (let number = 1; number <= 101; number++) await admit(store, { number });
  expect((await page()).ids).toHaveLength(20);
  expect((await page({ limit: "100" })).ids).toHaveLength(100);
});

test("kind, status and model narrow the list, a model also by its aliases", async () => {
  await admit(store, { number: 1 });
  await admit(store, { number: 2, kind: "video", model: "sandbox-video" as ModelId });
  await admit(store, { number: 3 });
  await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW);
  expect((await page({ kind: "video" })).ids).toEqual([taskId(2)]);
  expect((await page({ status: "cancelled" })).ids).toEqual([taskId(3)]);
  expect((await page({ model: "sandbox-image", status: "pending" })).ids).toEqual([taskId(1)]);
  expect((await page({ model: "everybodys", status: "pending" })).ids).toEqual([taskId(1)]);
  expect((await page({ model: "mine" })).ids).toEqual([taskId(2)]);
  expect((await page({ model: "unknown" })).ids).toEqual([]);
});

describe("a query is refused for its", () => {
  test.each<[keyof ListQuery, string]>([
    ["limit", "0"],
    ["limit", "101"],
    ["limit", ""],
    ["limit", "1e1"],
    ["limit", "0x10"],
    ["limit", "2.5"],
    ["after", "x"],
    ["kind", "audio"],
    ["status", "done"],
    ["model", ""],
  ])("%s %j", async (param, value) => {
    const refusal = await page({ [param]: value }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AppError);
    expect(refusal).toMatchObject({ code: "invalid_request", param });
  });
});

describe("a search", () => {
  const prompted = (number: number, prompt: string) =>
    admit(store, { number, request: { ...newTask().request, prompt } });
  const found = async (q: string, more: ListQuery = {}) => (await page({ q, ...more })).ids;

  test("finds tasks by the words of their prompts, newest first, with the other filters and pages", async () => {
    await prompted(1, "A lighthouse at dusk");
    await prompted(2, "a lighthouse");
    await prompted(3, "dusk over a harbour with a lighthouse");
    await store.search.index(100);
    expect(await found("lighthouse")).toEqual([taskId(3), taskId(2), taskId(1)]);
    expect(await found("Dusk LIGHTHOUSE")).toEqual([taskId(3), taskId(1)]);
    expect(await found("lighthouse", { kind: "video" })).toEqual([]);
    expect(await found("lighthouse", { status: "completed" })).toEqual([]);
    const first = await page({ q: "dusk", limit: "1" });
    expect(first).toEqual({ ids: [taskId(3)], next: taskId(3) });
    expect(await page({ q: "dusk", limit: "1", after: taskId(3) })).toEqual({ ids: [taskId(1)], next: null });
  });

  test("takes any text for words", async () => {
    await prompted(1, 'say "OR" NOT NEAR(a b) col:x');
    await store.search.index(100);
    const texts = [
      '"',
      '"" OR ""',
      "*",
      "words : x",
      "a NOT b)",
      "(",
      "\0",
      "-x",
      "{words}",
      "^a",
      "'; drop table task",
    ];
    for (const q of [
      ...texts,
      "x".repeat(32_000),
      '"'.repeat(32_000),
      "猫".repeat(32_000),
      "a b ".repeat(8_000),
    ])
      await found(q);
    expect(await found("NOT near")).toEqual([taskId(1)]);
    expect(await found('"or" (not) col:X')).toEqual([taskId(1)]);
    expect(await found("or\0not")).toEqual([taskId(1)]);
    expect(await found("!?")).toEqual([]);
  });

  test("without a character to read, or where prompts are not indexed, is refused", async () => {
    for (const q of ["", " \n"])
      await expect(page({ q })).rejects.toMatchObject({ code: "invalid_request", param: "q" });
    const off = { aliases: ALIASES, searchesPrompts: false, tasks: store.tasks };
    await expect(listTasks(off, CALLER, { q: "x" })).rejects.toThrow(
      "q cannot be used: this server does not search prompts (search.prompts is off).",
    );
  });
});
