import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { readAsFar } from "../../console/api/more.ts";
import { nextRange } from "../../console/parts/long-table.tsx";
import { barsOf } from "../../console/screens/task/read.ts";
import {
  type ListedTask,
  MOST_TOLD,
  withPage,
  withTail,
  withTask,
} from "../../console/screens/tasks/list.ts";
import { haveMany, scrollToTheEnd } from "./support/answers.ts";
import { CHROMIUM, openBrowser, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { until } from "./support/until.ts";

const ALL = { status: "", kind: "", model: "", account: "" };
const task = (id: string, more: Partial<ListedTask> = {}): ListedTask => ({
  ...{ task_id: id, status: "processing", model: "sandbox-image", created_at: 1, kind: "image" },
  ...more,
});

describe("a list that a stream changes", () => {
  const page = { tasks: [task("task_5"), task("task_3")], next: "task_3" };
  const ids = (changed: ListedTask, filters = ALL) =>
    withTask(page, changed, filters).tasks.map(({ task_id, status }) => `${task_id} ${status}`);

  test("has a new task in front, a known one in its place, and an older one not at all", () => {
    expect(ids(task("task_7"))).toEqual(["task_7 processing", "task_5 processing", "task_3 processing"]);
    expect(ids(task("task_3", { status: "failed" }))).toEqual(["task_5 processing", "task_3 failed"]);
    expect(ids(task("task_1"))).toEqual(["task_5 processing", "task_3 processing"]);
  });

  test("has a task that fits only now in the order of the others", () => {
    const ended = { tasks: [task("task_5"), task("task_3")], next: null };
    const idsAfter = (id: string) => withTask(ended, task(id), ALL).tasks.map(({ task_id }) => task_id);
    expect(ids(task("task_4"))).toEqual(["task_5 processing", "task_4 processing", "task_3 processing"]);
    expect(idsAfter("task_4")).toEqual(["task_5", "task_4", "task_3"]);
    expect(idsAfter("task_1")).toEqual(["task_5", "task_3", "task_1"]);
  });

  test("keeps so many of what it is told, and all that its reader has read", () => {
    const idAt = (place: number) => `task_${String(place).padStart(6, "0")}`;
    const tellMany = (start: { readonly tasks: readonly ListedTask[]; readonly next: string | null }) => {
      let list = start;
      for (let i = 0; i < MOST_TOLD + 50; i += 1) list = withTask(list, task(idAt(5_000 + i)), ALL);
      return list;
    };
    const told = tellMany({ tasks: [task(idAt(1))], next: null });
    expect([told.tasks.length, told.tasks[0]?.task_id]).toEqual([MOST_TOLD, idAt(5_000 + MOST_TOLD + 49)]);
    // The rest can be read again, from the last one that is there.
    expect(told.next).toBe(told.tasks.at(-1)?.task_id ?? "");
    const older = Array.from({ length: 2_000 }, (_, i) => task(idAt(4_999 - i)));
    const read = withPage({ tasks: [task(idAt(5_000))], next: idAt(5_000) }, { tasks: older, next: null });
    expect(tellMany(read).tasks.length).toBe(2_001);
  });

  test("loses a task that fits its filters no more", () => {
    expect(ids(task("task_5", { status: "completed" }), { ...ALL, status: "processing" })).toEqual([
      "task_3 processing",
    ]);
    expect(ids(task("task_9", { kind: "video" }), { ...ALL, kind: "image" })).toHaveLength(2);
  });
});

describe("a list that is read anew", () => {
  const page = (tasks: readonly number[], next: number | null) => ({
    tasks: tasks.map((number) => task(`task_${number}`)),
    next: next === null ? null : `task_${next}`,
  });

  test("keeps what follows its first page where the two meet, and where that ends", () => {
    const before = { ...page([8, 7, 6, 5, 4, 3], 3), asked: 6 };
    expect(withTail(page([9, 8, 7], 7), before)).toEqual({ ...page([9, 8, 7, 6, 5, 4, 3], 3), asked: 6 });
    expect(withTail(page([30, 29, 28], 28), before)).toEqual(page([30, 29, 28], 28));
    expect(withTail(page([9, 8], null), page([8, 7], null))).toEqual(page([9, 8], null));
  });

  test("is read page by page as far as it was read before", async () => {
    const asked: (string | undefined)[] = [];
    const read = async (after?: string) => {
      asked.push(after);
      const from = after === undefined ? 9 : Number(after.slice(5)) - 1;
      return page([from, from - 1], from > 2 ? from - 1 : null);
    };
    const far = (held: number) => readAsFar(({ tasks }) => tasks.length, held, { read, join: withPage });
    expect((await far(0)).tasks).toHaveLength(2);
    expect((await far(3)).next).toBe("task_6");
    expect(asked).toEqual([undefined, undefined, "task_8"]);
    expect(await far(99)).toMatchObject({ tasks: { length: 10 }, next: null });
  });
});

test("rows of another place of a list are made a few at a time, those in sight first", () => {
  const [sight, room] = [
    { from: 500, to: 516 },
    { from: 490, to: 526 },
  ];
  const ranges = [{ from: 0, to: 30 }];
  for (let turn = 0; turn < 5; turn += 1) ranges.push(nextRange(ranges[turn] ?? room, sight, room));
  expect(ranges.slice(1).map(({ from, to }) => `${from} ${to}`)).toEqual([
    ...["500 508", "500 516", "500 524", "494 526", "490 526"],
  ]);
  // As the page is scrolled on, most are there.
  expect(nextRange(room, { from: 503, to: 519 }, { from: 493, to: 529 })).toEqual({ from: 493, to: 529 });
});

test("a waterfall has stages, attempts within them, and phases one after the other", () => {
  const at = (ms: number) => new Date(1_000_000 + ms).toISOString();
  const bars = barsOf({
    // As much of a trace as the waterfall reads.
    task: {
      created_at: 1_000,
      timeline: [
        { stage: "queued", at: at(0), duration_ms: 100 },
        { stage: "running", at: at(100), duration_ms: 300 },
        { stage: "terminal", at: at(400) },
      ],
    } as never,
    attempts: [
      {
        number: 1,
        started_at: at(100),
        outcome: "completed",
        phases: { submit: { duration_ms: 50 }, polls: { duration_ms: 200, count: 3 } },
      },
    ],
  });
  expect(bars.map(({ name, fromMs, lengthMs }) => [name, fromMs, lengthMs])).toEqual([
    ["queued", 0, 100],
    ["running", 100, 300],
    ["attempt 1", 100, 300],
    ["submit", 100, 50],
    ["polls (3)", 150, 200],
  ]);
});

describe.skipIf(CHROMIUM === undefined)("tasks in the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  test.each(["tenant", "operator"] as const)(
    "appear for a %s as they are made, change, and are cancelled",
    async (role) => {
      await using at = await visit(browser, service.url);
      await at.signIn(role === "tenant" ? service.key : service.token);
      await at.open("tasks?model=sandbox-image");
      const id = await service.make({ sandbox: { outcome: "hang" } });
      await at.page.locator(`[data-row][href$="${id}"]`).click();
      await at.page.getByRole("button", { name: "Cancel task" }).click();
      expect(await at.violations()).toEqual([]);
      await at.page.getByRole("button", { name: "Cancel the task" }).click();
      await at.page.locator("dd", { hasText: "cancelled" }).waitFor();
      await at.page.getByText("← All tasks").click();
      await at.page
        .locator("tr", { hasText: id.slice(-8) })
        .getByText("cancelled")
        .waitFor();
      expect(at.problems).toEqual([]);
    },
  );

  test("that changed while the tab was out of sight, or the stream was cut, are told when it is back", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open("tasks");
    const hide = (isHidden: boolean) => at.page.evaluate(hiding(isHidden));
    const row = (id: string) => at.page.locator("tr", { hasText: id.slice(-8) });
    await row(await service.make())
      .getByText("completed")
      .waitFor();
    const closed = at.page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/events"));
    await hide(true);
    await closed;
    const id = await service.make();
    expect(await row(id).count()).toBe(0);
    await hide(false);
    await row(id).getByText("completed").waitFor();
  });

  test("have their status in full on narrow telephones", async () => {
    await service.make();
    await using at = await visit(browser, service.url, { width: 390 });
    await at.signIn(service.key);
    await at.open("tasks");
    for (const width of [320, 360, 375]) {
      await at.page.setViewportSize({ width, height: 640 });
      await until(() => at.page.evaluate<number>("innerWidth"), width);
      expect([width, await at.cutWords(), await at.overflow()]).toEqual([width, [], 0]);
    }
  });

  test("are found by filters that are in the address", async () => {
    const failed = await service.make({ sandbox: { delay_ms: 0, outcome: "failed" } });
    await service.make();
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open("tasks");
    await at.page.getByLabel("Status").selectOption("failed");
    await at.page.locator(`[data-row][href$="${failed}"]`).waitFor();
    await at.page.locator("td").getByText("completed").first().waitFor({ state: "detached" });
    await at.page.waitForURL(`${service.url}/console/tasks?status=failed`);
    await at.open("tasks?model=none");
    await at.page.getByText("No task is like that").waitFor();
    await at.page.getByRole("button", { name: "Show all tasks" }).click();
    await at.page.locator("[data-row]").first().waitFor();
  });

  test("tell a failed one's reason and what to do about it", async () => {
    const failed = await service.make({ sandbox: { delay_ms: 0, outcome: "failed" } });
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open(`tasks/${failed}`);
    await at.page
      .getByText("Retry the task; if it fails again, use another model.", { exact: true })
      .waitFor();
    expect(await at.page.getByText("UPSTREAM_ERROR", { exact: true }).count()).toBe(1);
    await at.page.getByRole("button", { name: "Make it again" }).click();
    await at.page.waitForURL((url) => /\/tasks\/task_/.test(url.pathname) && !url.pathname.endsWith(failed));
    await at.page
      .getByText("Retry the task; if it fails again, use another model.", { exact: true })
      .waitFor();
    await at.open("tasks/task_01jd0000000000000000000000");
    await at.page.getByRole("alert").getByText("Request").waitFor();
  });

  test("of a group stand beside each other, as they change, and are cancelled together", async () => {
    const make = async (outcome: string) => {
      const parameters = { sandbox: outcome === "" ? { delay_ms: 0 } : { outcome } };
      const asked = { prompt: "A fox", models: ["sandbox-image"], grid: { size: ["64x64", "96x96"] } };
      const body = { ...asked, parameters, policy: "cheapest" };
      return service.ask("POST", "/v1/groups", body, service.key);
    };
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.key);
    await at.open("groups");
    await page.getByText("No groups yet").waitFor();
    const ended = await make("");
    for (const id of ended.task_ids as string[])
      await service.ask("GET", `/v1/images/status/${id}?wait=30`, undefined, service.key);
    const hanging = await make("hang");
    await at.open("groups");
    const row = (group: Record<string, unknown>) =>
      page.locator("main tbody tr", { hasText: String(group.group_id).slice(-8) });
    await row(ended).getByText("completed").waitFor();
    await row(ended).getByText("$0.02").waitFor();
    await row(hanging).getByRole("link").click();
    await page.getByRole("button", { name: "Cancel group" }).click();
    expect(await at.violations()).toEqual([]);
    await page.getByRole("button", { name: "Cancel the group" }).click();
    await page.locator("dd", { hasText: "cancelled" }).waitFor();
    await page.locator("main tbody tr").nth(1).getByText("cancelled").waitFor();
    await at.open(`groups/${ended.group_id}`);
    await page.getByText("Chosen").waitFor();
    const sheet = page.getByAltText("All results of the group side by side");
    await sheet.evaluate<void, HTMLImageElement>((image) => image.decode());
    await page.locator("main tbody [data-row]").first().click();
    await page.getByRole("heading", { name: "Image by sandbox-image" }).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("of thousands are read on as the reader scrolls, and only those in sight are in the page", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await haveMany(at.page, service.url, 3_000);
    await at.open("tasks");
    const size = async () => Number(await at.page.locator("main table").getAttribute("aria-rowcount")) - 1;
    expect(await scrollToTheEnd(at.page, "main tbody tr", { count: 3_000, size })).toBeLessThan(80);
    const last = at.page.locator("main tr[aria-rowindex='3001'] [data-row]");
    await last.waitFor();
    // From where the reader is, and on through rows that are not in the page yet.
    await at.page.keyboard.press("k");
    const placeOf = () =>
      at.page.evaluate<number>("Number(document.activeElement.closest('tr').ariaRowIndex)");
    await at.page.locator("main tr [data-row]:focus").waitFor();
    const from = await placeOf();
    expect(from).toBeGreaterThan(2_960);
    for (let step = 1; step <= 40; step += 1) {
      await at.page.keyboard.press("k");
      await at.page.locator(`main tr[aria-rowindex="${from - step}"] [data-row]:focus`).waitFor();
    }
    expect(await at.violations()).toEqual([]);
    expect(at.problems).toEqual([]);
  });

  test("are where they were when the reader comes back from one, also after a reload, though they are read anew", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.key);
    await haveMany(page, service.url, 2_000);
    await at.open("tasks");
    const size = async () => Number(await page.locator("main table").getAttribute("aria-rowcount")) - 1;
    await scrollToTheEnd(page, "main tbody tr", { count: 2_000, size });
    await page.evaluate("scrollTo(0, 80_000)");
    const top = () => page.evaluate<number>("Math.round(scrollY)");
    await page.locator("main tr[aria-rowindex='1405'] [data-row]").click();
    await page.getByRole("heading", { name: "Task", exact: true }).waitFor();
    expect(await top()).toBe(0);
    await page.goBack();
    await until(top, 80_000);
    await page.locator("main tr[aria-rowindex='1405'] [data-row]").waitFor();
    await page.reload();
    await until(top, 80_000);
    // Whoever moves is not taken back.
    await page.goForward();
    await page.getByRole("heading", { name: "Task", exact: true }).waitFor();
    await page.goBack();
    await page.mouse.wheel(0, 1);
    await page.evaluate("scrollTo(0, 0)");
    await until(size, 500);
    expect(await top()).toBe(0);
  });

  test("keep the reader's place in a long list when the service is back, and have what is new in front", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.key);
    await haveMany(page, service.url, 3_000);
    await at.open("tasks");
    const size = async () => Number(await page.locator("main table").getAttribute("aria-rowcount")) - 1;
    await scrollToTheEnd(page, "main tbody tr", { count: 3_000, size });
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
    await page.locator("main tr[aria-rowindex='1500'] [data-row]").waitFor();
    // A page in sight again follows its stream anew, and finds the service away.
    await page.route("**/v1/events", (route) => route.abort());
    await comeBackIntoSight(page);
    const lost = page.getByText("The service does not answer.", { exact: false });
    await lost.waitFor();
    await haveMany(page, service.url, 3_001, 100_000);
    await page.unroute("**/v1/events");
    await lost.waitFor({ state: "detached" });
    await until(size, 3_001);
    await page.locator("main tr[aria-rowindex='1501'] [data-row]").waitFor();
  });

  test.each(["key", "token"] as const)(
    "of many show their states on a telephone, to a %s",
    async (holder) => {
      await using at = await visit(browser, service.url, { width: 390 });
      await at.signIn(service[holder]);
      await haveMany(at.page, service.url, 200);
      await at.open("tasks");
      await at.page.locator("main tr[aria-rowindex='12']").waitFor();
      expect(await at.cutWords()).toEqual([]);
      expect(at.problems).toEqual([]);
    },
  );

  test("at another place of a long list, a few come in each frame", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await haveMany(at.page, service.url, 3_000);
    await at.open("tasks");
    const size = async () => Number(await at.page.locator("main table").getAttribute("aria-rowcount")) - 1;
    await scrollToTheEnd(at.page, "main tbody tr", { count: 3_000, size });
    const counts = await at.page.evaluate<number[]>(COUNT_AFTER_JUMP);
    const more = counts.map((count, place) => count - (counts[place - 1] ?? 0));
    expect(Math.max(...more)).toBeLessThanOrEqual(8);
    expect(counts.at(-1)).toBeGreaterThan(900 / 57 + 15);
  });
});

/** Has the page believe that it is out of sight, or in sight. */
const hiding = (isHidden: boolean) =>
  `Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} }); document.dispatchEvent(new Event("visibilitychange"))`;

async function comeBackIntoSight(page: Page): Promise<void> {
  const closed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/events"));
  await page.evaluate(hiding(true));
  await closed;
  await page.evaluate(hiding(false));
}

/** How many rows the page has in the frame that follows a jump, and then until it has room beyond them. */
const COUNT_AFTER_JUMP = `new Promise((resolve) => {
  const counts = [];
  const look = () => {
    counts.push(document.querySelectorAll("main tr[aria-rowindex]").length);
    if (counts.at(-1) > 30 || counts.length > 600) resolve(counts);
    else requestAnimationFrame(look);
  };
  addEventListener("scroll", () => requestAnimationFrame(look), { once: true });
  scrollTo(0, document.documentElement.scrollHeight / 2);
})`;
