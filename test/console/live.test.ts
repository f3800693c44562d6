import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { adviceFor } from "../../console/screens/callback/advice.ts";
import { curlOf } from "../../console/screens/callback/by-hand.ts";
import { fieldOf, momentOf, placeOf } from "../../console/screens/callbacks/list.ts";
import { createFeed, inPlace } from "../../console/screens/live/feed.ts";
import type { ListedTask } from "../../console/screens/tasks/list.ts";
import { CHROMIUM, openBrowser, picture, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen } from "./support/until.ts";

const task = (id: string, status: ListedTask["status"] = "processing", more: Partial<ListedTask> = {}) => ({
  ...{ task_id: id, status, model: "sandbox-image", created_at: 1, kind: "image" as const },
  ...(status === "completed" ? { usage: { cost: "0.010000", currency: "USD" as const } } : {}),
  ...more,
});

describe("a feed", () => {
  const feedOf = (model = "") => createFeed({ model, account: "" });
  const shown = ({ view }: Pick<ReturnType<typeof feedOf>, "view">) =>
    view().rows.map((row) => `${row.task.task_id} ${row.task.status}`);

  test("has the latest change in front, and each task once", () => {
    const feed = feedOf();
    feed.tell(task("task_1", "pending"), 10);
    feed.tell(task("task_2"), 11);
    feed.tell(task("task_1"), 12);
    feed.tell(task("task_3", "pending", { model: "other" }), 13);
    expect(shown(feed)).toEqual(["task_3 pending", "task_1 processing", "task_2 processing"]);
    expect(feed.view()).toMatchObject({ pending: 1, processing: 2, changes: 4, isWhole: true });
    const narrow = feedOf("other");
    narrow.tell(task("task_1"), 10);
    expect(narrow.view()).toMatchObject({ rows: [], processing: 0, changes: 0 });
  });

  test("counts what ends while it is watched, once, and its charge", () => {
    const feed = feedOf();
    feed.past(feed.look(), { tasks: [task("task_1", "completed"), task("task_2")], isWhole: true });
    expect(feed.view().ends).toEqual({ completed: 0, failed: 0, cancelled: 0 });
    for (const at of [10, 11]) feed.tell(task("task_2", "completed"), at);
    feed.tell(task("task_3", "failed"), 12);
    feed.tell(task("task_1", "completed"), 13);
    expect(feed.view()).toMatchObject({
      ends: { completed: 1, failed: 1, cancelled: 0 },
      chargedMicros: 10_000,
      processing: 0,
    });
  });

  test("believes the stream more than lists that were read meanwhile, and lists more than itself", () => {
    const feed = feedOf();
    feed.tell(task("task_1"), 10);
    feed.tell(task("task_2"), 11);
    const look = feed.look();
    feed.tell(task("task_1", "completed", { completed_at: 12 }), 12);
    feed.tell(task("task_4", "pending"), 13);
    // The list is older: task 1 was under way, task 4 not there yet. Task 2 was deleted, task 3 was there all the time.
    feed.past(look, { tasks: [task("task_1"), task("task_3")], isWhole: true });
    expect(shown(feed)).toEqual(["task_4 pending", "task_1 completed", "task_3 processing"]);
    expect(feed.view()).toMatchObject({ pending: 1, processing: 1 });
    // What ended while nobody was told of it is counted, too.
    feed.past(feed.look(), {
      tasks: [task("task_3", "failed", { completed_at: 20 }), task("task_4", "pending")],
      isWhole: false,
    });
    expect(feed.view()).toMatchObject({ ends: { completed: 1, failed: 1 }, isWhole: false, processing: 0 });
    expect(shown(feed)[0]).toBe("task_3 failed");
  });

  test("takes no answer to an earlier look, and drops nothing that a short list may have left out", () => {
    const feed = feedOf();
    feed.tell(task("task_1"), 10);
    const old = feed.look();
    const look = feed.look();
    feed.past(old, { tasks: [], isWhole: true });
    feed.forget(old);
    feed.past(look, { tasks: [], isWhole: false });
    expect(shown(feed)).toEqual(["task_1 processing"]);
  });

  test("does not grow with time", () => {
    const feed = feedOf();
    for (let i = 0; i < 3_000; i += 1) feed.tell(task(`task_${i}`, "completed"), i);
    expect(feed.view().rows).toHaveLength(100);
    expect(feed.view().ends.completed).toBe(3_000);
  });

  test("keeps rows where they are for whoever is among them, and changes what they say", () => {
    const row = (id: string, status?: ListedTask["status"]) => ({ task: task(id, status), at: 1 });
    const held = [row("task_1"), row("task_2")];
    const now = [row("task_3"), row("task_2", "failed")];
    expect(inPlace(held, now).map((each) => `${each.task.task_id} ${each.task.status}`)).toEqual([
      "task_1 processing",
      "task_2 failed",
    ]);
  });
});

describe("what is told of a callback", () => {
  test("is where it goes without what may be a secret, and moments on the reader's clock", () => {
    expect(placeOf({ url: "https://hooks.example/a?token=7" })).toBe("hooks.example/a");
    expect(placeOf({ url: "https://hooks.example:8443/" })).toBe("hooks.example:8443");
    expect(placeOf({ host: "hooks.example" })).toBe("hooks.example");
    const moment = "2026-11-24T09:30:00Z";
    expect(momentOf(fieldOf(moment))).toBe(moment);
    expect([fieldOf(""), fieldOf("soon"), momentOf(""), momentOf("soon")]).toEqual(["", "", "", ""]);
  });

  test("is what to do about each way to fail, and nothing about a success", () => {
    const advice = (outcome: string | null, status: number | null = null, error: string | null = null) =>
      adviceFor({ outcome, status, error });
    expect(advice("delivered", 204)).toBeUndefined();
    expect(advice(null)).toBeUndefined();
    for (const [status, words] of [
      [302, "Redirects are not followed"],
      [401, "compare its secret"],
      [404, "at this path"],
      [429, "too often"],
      [418, "from 200 to 299"],
      [503, "its own log"],
    ] as const)
      expect(advice("refused", status)).toContain(words);
    for (const [error, words] of [
      ["no answer in time", "within 10 seconds"],
      ["ECONNREFUSED", "Nothing listens"],
      ["names a host that cannot be found", "no address"],
      ["CERT_HAS_EXPIRED", "certificate"],
    ] as const)
      expect(advice("unreachable", null, error)).toContain(words);
    expect(advice("unreachable", null, "something new")).toBeUndefined();
    expect(advice("forbidden")).toContain("egress.allow");
    expect(advice("interrupted")).toContain("task_id");
  });

  test("is the same POST for a shell, whatever is in the address", async () => {
    const url = "http://127.0.0.1:9/'$(id)`?a=b&c";
    const script = `curl() { printf '%s\\n' "$@"; cat; }\n${curlOf(url, { text: "it's $HOME\u202E" })}`;
    const run = Bun.spawn(["sh", "-c", script], { stdout: "pipe" });
    const lines = (await new Response(run.stdout).text()).trimEnd().split("\n");
    expect(lines).toContain(url);
    expect(JSON.parse(lines.slice(lines.indexOf("{")).join("\n"))).toEqual({ text: "it's $HOME\u202E" });
  });
});

describe.skipIf(CHROMIUM === undefined)("in the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  /** What the receiver answers with. */
  let status = 500;
  let posts = 0;
  const waiting: (() => void)[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.text();
      posts += 1;
      for (const tell of waiting.splice(0)) tell();
      return new Response("<b>not now</b>", { status });
    },
  });
  const hook = `http://127.0.0.1:${receiver.port}/hook?token=7`;
  beforeAll(async () => {
    const env = { SVC_EGRESS_ALLOW: "127.0.0.1/32", SVC_CALLBACKS_DELAYS_SECONDS: "3600" };
    [service, browser] = await Promise.all([startConsole(env), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
    await receiver.stop(true);
  });

  const row = (page: Page, id: string) => page.locator("tbody tr", { hasText: id.slice(-8) });
  const figure = (page: Page, name: string) =>
    page.locator("main dl > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) });

  /** At a screen that follows nothing. */
  async function signedIn() {
    const at = await visit(browser, service.url);
    await at.page.goto(`${service.url}/console/account`);
    await at.signIn(service.key);
    return at;
  }

  /** Makes a task that is called back, and waits for the first send. @returns the callback's id */
  async function calledBack(): Promise<string> {
    const arrival = new Promise<void>((resolve) => waiting.push(resolve));
    const id = await service.make({ callback_url: hook });
    await arrival;
    const { callbacks } = await service.ask("GET", `/v1/callbacks?task_id=${id}`, undefined, service.key);
    return (callbacks as { id: string }[])[0]?.id ?? "";
  }

  describe("tasks live", () => {
    test("begin with what there will be to see, and come as they are made, change and end", async () => {
      await using at = await visit(browser, service.url);
      await at.signIn(service.key);
      await at.open("live");
      await at.page.getByText("Nothing happens yet").waitFor();
      await picture(at.page, "live-empty");
      expect(await at.violations()).toEqual([]);
      const id = await service.make({ sandbox: { outcome: "hang" } });
      await row(at.page, id).getByText("processing").waitFor();
      await figure(at.page, "Being made").getByText("1", { exact: true }).waitFor();
      await service.ask("POST", `/v1/tasks/${id}/cancel`, undefined, service.key);
      await row(at.page, id).getByText("cancelled").waitFor();
      await figure(at.page, "Being made").getByText("0", { exact: true }).waitFor();
      const made = await service.make();
      await row(at.page, made).locator("img").waitFor();
      await figure(at.page, "Completed").getByText("1", { exact: true }).waitFor();
      await figure(at.page, "Charged").getByText("$0.01", { exact: true }).waitFor();
      await picture(at.page, "live-tenant-1440");
      expect(at.problems).toEqual([]);
    });

    test("come to operators with whose they are, and with the lanes", async () => {
      const id = await service.make({ sandbox: { outcome: "hang" } });
      await using at = await visit(browser, service.url, { theme: "dark" });
      await at.signIn(service.token);
      await at.open("live?account=default");
      await seen(row(at.page, id).getByText("default")).waitFor();
      await at.page
        .locator("li", { hasText: "sandbox" })
        .getByText(/^1 of \d+ being made$/)
        .waitFor();
      await picture(at.page, "live-operator-1440");
      expect(await at.violations()).toEqual([]);
      await service.ask("POST", `/admin/v1/tasks/${id}/cancel`);
      await row(at.page, id).getByText("cancelled").waitFor();
      await at.page
        .locator("li", { hasText: "sandbox" })
        .getByText(/^0 of \d+ being made$/)
        .waitFor();
      await at.page.getByLabel("Account").fill("nobody");
      await at.page.keyboard.press("Enter");
      await at.page.getByRole("alert").waitFor();
      await at.page.waitForURL((url) => url.search === "?account=nobody");
    });

    test("are made in lanes, which are told in words, the busiest first", async () => {
      const lane = { queued: 0, oldest_seconds: null, under_way: 1, limit: 8 };
      const lanes = [
        ...["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => ({ ...lane, lane: name })),
        { ...lane, lane: "off", limit: null, under_way: 0, queued: 1, oldest_seconds: 2 },
        { ...lane, lane: "busy", queued: 12, oldest_seconds: 61 },
      ];
      await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
      await at.signIn(service.token);
      await at.page.route("**/admin/v1/overview", async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { data: object };
        await route.fulfill({ response, json: { ...answer, data: { ...answer.data, lanes } } });
      });
      await at.open("live");
      const names = at.page.locator("li > span:first-child", { hasText: /^(?:[a-h]|off|busy)$/ });
      await at.page.getByText("1 of 8 being made, 12 wait, the oldest for 1 min 1 s").waitFor();
      expect(await names.allTextContents()).toEqual(["busy", "a", "b", "c", "d", "e", "f", "g"]);
      await at.page.getByRole("button", { name: "Show all 10" }).click();
      await at.page.getByText("switched off, 1 waits, the oldest for 2 s").waitFor();
      await picture(at.page, "live-lanes-390");
      expect(await at.violations()).toEqual([]);
      expect(await at.overflow()).toBeLessThanOrEqual(0);
      expect(at.problems).toEqual([]);
    });

    test("stay as they are during a pause, which says what waits", async () => {
      await service.make();
      await using at = await visit(browser, service.url, { width: 390 });
      await at.signIn(service.key);
      await at.open("live");
      await at.page.locator("[data-row]").first().waitFor();
      await at.page.getByRole("button", { name: "Pause" }).click();
      const id = await service.make();
      await at.page.getByText(/^\d+ changes? waits?\.$/).waitFor();
      expect(await row(at.page, id).count()).toBe(0);
      await picture(at.page, "live-paused-390");
      expect(await at.violations()).toEqual([]);
      expect(await at.overflow()).toBeLessThanOrEqual(0);
      await at.page.getByRole("button", { name: "Go on" }).click();
      await row(at.page, id).getByText("completed").waitFor();
      expect(at.problems).toEqual([]);
    });

    test("keep their places while the pointer or the focus is among them", async () => {
      await using at = await visit(browser, service.url);
      await at.signIn(service.key);
      await at.open("live");
      const first = at.page.locator("tbody tr").first().locator("[data-row]");
      const before = await first.getAttribute("href");
      // What comes first in a page is no movement yet.
      for (const x of [4, 8]) await first.hover({ position: { x, y: 4 } });
      const id = await service.make();
      await at.page.getByText("in place while you are among them, 1 newer wait").waitFor();
      expect(await first.getAttribute("href")).toBe(before);
      await at.page.mouse.move(0, 0);
      await at.page.locator(`tbody tr:first-child [data-row][href$="${id}"]`).waitFor();
      await at.page.keyboard.press("j");
      await at.page.getByText("in place while you are among them").waitFor();
      await service.make();
      await at.page.getByText("in place while you are among them, 1 newer wait").waitFor();
      expect(await at.page.evaluate("document.activeElement.getAttribute('href')")).toContain(id);
    });

    test("are told of after the connection broke, and that it did", async () => {
      const id = await service.make();
      await using at = await signedIn();
      // A connection that ends at once, before all tasks.
      const broken = { status: 200, contentType: "text/event-stream", body: "id: 0\n\n" };
      await at.page.route("**/v1/events", (route) => route.fulfill(broken), { times: 1 });
      await at.open("live?model=sandbox-image");
      await at.page.getByText(/^The connection broke, and is back since .+ Nothing was missed\.$/).waitFor();
      await row(at.page, id).waitFor();
      expect(at.problems).toEqual([]);
    });

    test("are not live for whoever is refused, which says why and begins anew when asked", async () => {
      await using at = await signedIn();
      const body = { code: 403, message: "Not for you.", data: { error_code: "permission_denied" } };
      await at.page.route("**/v1/events", (route) => route.fulfill({ status: 403, json: body }), {
        times: 1,
      });
      await at.open("live");
      await at.page.getByText("not live").waitFor();
      const alert = at.page.getByRole("alert");
      await alert.getByText("Not for you.").waitFor();
      await alert.getByRole("button", { name: "Try again" }).click();
      await alert.waitFor({ state: "detached" });
      await at.page
        .getByRole("status")
        .getByText(/^\W*live$/)
        .waitFor();
    });
  });

  describe("callbacks", () => {
    test("are listed with each send, its answer and what to do, and sent again", async () => {
      status = 500;
      const id = await calledBack();
      await using at = await visit(browser, service.url, { width: 390 });
      await at.signIn(service.key);
      await at.open("callbacks?state=pending");
      await at.page.locator(`[data-row][href$="${id}"]`).click();
      await at.page.getByRole("heading", { name: `Callback to 127.0.0.1:${receiver.port}/hook` }).waitFor();
      await at.page.getByText("HTTP 500").waitFor();
      await at.page.getByText("<b>not now</b>").waitFor();
      await at.page.getByText("The receiver failed while it handled this").waitFor();
      expect(await at.page.getByLabel("curl", { exact: true }).textContent()).toContain(hook);
      await picture(at.page, "callback-failed-390");
      expect(await at.violations()).toEqual([]);
      expect(await at.overflow()).toBeLessThanOrEqual(0);
      status = 204;
      await at.page.getByRole("button", { name: "Send again" }).click();
      await at.page.locator("li", { hasText: "2. redelivery" }).getByText("delivered").waitFor();
      await at.page.locator("dd").getByText("delivered").waitFor();
      expect(at.problems).toEqual([]);
    });

    test("lead to their tasks and back, and are found by filters that are in the address", async () => {
      status = 204;
      const id = await calledBack();
      await using at = await visit(browser, service.url, { theme: "dark" });
      await at.signIn(service.key);
      await at.open(`callbacks/${id}`);
      await at.page.locator("dd a", { hasText: "task_" }).click();
      await at.page.getByRole("heading", { name: "Image by sandbox-image" }).waitFor();
      await at.page.locator(`[data-row][href$="callbacks/${id}"]`).click();
      await at.page.getByText("1. attempt").waitFor();
      await picture(at.page, "callback-delivered-1440");
      expect(await at.violations()).toEqual([]);
      await at.open("callbacks");
      await at.page.getByLabel("State").selectOption("failed");
      await at.page.getByText("No callback is like that").waitFor();
      await at.page.waitForURL((url) => url.search === "?state=failed");
      await at.page.getByRole("button", { name: "Show all callbacks" }).click();
      await at.page.locator(`[data-row][href$="${id}"]`).waitFor();
      await at.page.getByLabel("Before").fill("2001-02-03T04:05");
      await at.page.keyboard.press("Enter");
      await at.page.waitForURL((url) => url.searchParams.get("to") === "2001-02-03T04:05:00Z");
      await at.page.getByText("No callback is like that").waitFor();
      expect(at.problems).toEqual([]);
    });

    test("are tried with a task that ends at once, which tells an address that cannot be called at its field", async () => {
      status = 204;
      await using at = await visit(browser, service.url);
      await at.signIn(service.key);
      await at.open("callbacks");
      await at.page.getByRole("button", { name: "Send a test" }).click();
      const dialog = at.page.getByRole("dialog", { name: "Send a test" });
      await dialog.getByText("It costs $0.01 if it completes.").waitFor();
      await dialog.getByLabel("Address").fill("http://10.0.0.7/hook");
      await dialog.getByRole("button", { name: "Send", exact: true }).click();
      await dialog.getByText("which is not public").waitFor();
      expect(await dialog.getByLabel("Address").getAttribute("aria-invalid")).toBe("true");
      await picture(at.page, "callbacks-test-1440");
      expect(await at.violations()).toEqual([]);
      await dialog.getByLabel("Address").fill(hook);
      await dialog.getByLabel("The task").selectOption("failed");
      await dialog.getByRole("button", { name: "Send", exact: true }).click();
      await at.page.locator("dd").getByText("delivered").waitFor();
      expect(await at.page.getByLabel("Payload", { exact: true }).textContent()).toContain(
        '"status": "failed"',
      );
      expect(await at.page.evaluate("JSON.stringify({ ...sessionStorage })")).not.toContain("token=7");
    });

    test("of all accounts are an operator's to see and to send again, many at once, without their addresses", async () => {
      status = 204;
      const id = await calledBack();
      await using at = await visit(browser, service.url);
      await at.signIn(service.token);
      await at.open("callbacks?account=default&key=default");
      await at.page.locator(`[data-row][href$="${id}"]`).waitFor();
      await picture(at.page, "callbacks-operator-1440");
      expect(await at.violations()).toEqual([]);
      await at.page.getByRole("button", { name: "Send many again" }).click();
      const dialog = at.page.getByRole("dialog", { name: "Send many again" });
      await dialog.getByText("No callback is like that.").waitFor();
      // What was chosen and left counts no more: the next one begins as the list is.
      await dialog.getByLabel("State").selectOption("any");
      await dialog.getByRole("button", { name: "Leave it as it is" }).click();
      await at.page.getByLabel("State").selectOption("failed");
      await at.page.getByRole("button", { name: "Send many again" }).click();
      expect(await dialog.getByLabel("State").inputValue()).toBe("failed");
      await dialog.getByLabel("State").selectOption("delivered");
      const counted = dialog.getByText(/^\d+ callbacks? to send again\.$/);
      await counted.waitFor();
      const many = Number.parseInt((await counted.textContent()) ?? "", 10);
      await picture(at.page, "callbacks-again-1440");
      expect(await at.violations()).toEqual([]);
      const before = posts;
      const lastOne = new Promise<void>((resolve) => {
        const look = () => (posts >= before + many ? resolve() : void waiting.push(look));
        waiting.push(look);
      });
      await dialog.getByRole("button", { name: "Send them again" }).click();
      await at.page.getByText(/^\d+ callbacks? (?:is|are) sent once more\.$/).waitFor();
      await dialog.waitFor({ state: "detached" });
      await lastOne;
      await at.open(`callbacks/${id}`);
      await at.page.getByText("2. redelivery").waitFor();
      expect(await at.page.locator("main").textContent()).not.toContain("token=7");
      expect(at.problems).toEqual([]);
    });

    test("are only looked at with a token that may only read", async () => {
      const { token } = await service.ask("POST", "/admin/v1/tokens", { name: "reader", scopes: ["read"] });
      const { callbacks } = await service.ask("GET", "/admin/v1/callbacks?limit=1");
      await using at = await visit(browser, service.url);
      await at.signIn(String(token));
      await at.open("callbacks");
      await at.page.locator("[data-row]").first().waitFor();
      expect(await at.page.getByRole("button", { name: "Send" }).count()).toBe(0);
      await at.open(`callbacks/${(callbacks as { id: string }[])[0]?.id}`);
      await at.page.getByRole("heading", { name: "What is sent" }).waitFor();
      expect(await at.page.getByRole("button", { name: "Send" }).count()).toBe(0);
    });

    test("of another account are nobody else's, by a link either", async () => {
      const id = await calledBack();
      await service.ask("POST", "/admin/v1/accounts", { name: "neighbour", credit: "5.00" });
      const other = await service.ask("POST", "/admin/v1/keys", { name: "other", account: "neighbour" });
      await using at = await visit(browser, service.url);
      await at.signIn(String(other.key));
      await at.open("callbacks");
      await at.page.getByText("No callbacks yet").waitFor();
      await picture(at.page, "callbacks-empty");
      await at.open(`callbacks/${id}`);
      await at.page.getByRole("alert").getByText("Request").waitFor();
      expect(await at.page.locator("main").textContent()).not.toContain("hook");
    });
  });
});
