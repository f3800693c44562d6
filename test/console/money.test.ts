import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { addAmounts, amountProblem, microsOf } from "../../console/screens/account/amount.ts";
import { changedFields } from "../../console/screens/changes/difference.tsx";
import { csvOf } from "../../console/screens/money/csv.ts";
import { everyDay, linesOf, type UsageRow } from "../../console/screens/money/figures.ts";
import { formatAmount, parseAmount, readAmount } from "../../src/domain/money/money.ts";
import { CHROMIUM, openBrowser, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const row = (more: Partial<UsageRow>): UsageRow => ({
  ...{ completed: 1, failed: 0, cancelled: 0, outputs: 1, resubmitted: 0 },
  ...{ charged: "0.010000", upstream_cost: null, margin: null },
  ...more,
});

describe("figures", () => {
  test("have a row for each day, also for one without a task", () => {
    const days = everyDay([row({ day: "2026-03-01" })], "2026-02-27", "2026-03-02");
    expect(days.map(({ day, charged }) => [day, charged])).toEqual([
      ["2026-02-27", "0.000000"],
      ["2026-02-28", "0.000000"],
      ["2026-03-01", "0.010000"],
      ["2026-03-02", "0.000000"],
    ]);
  });

  test("draw the five dearest, each with an amount for each day, and tell keys of one name apart", () => {
    const keys = Array.from({ length: 7 }, (_, i) =>
      row({ key_id: `key_${i}`, key: "web", account: "a", charged: `${7 - i}.000000` }),
    );
    const days = everyDay([], "2026-03-01", "2026-03-02");
    const pairs = keys.map((key) => ({ ...key, day: "2026-03-02" }));
    expect(linesOf("key", keys, days, pairs)).toEqual({
      names: Array(5).fill("a / web"),
      amounts: [7, 6, 5, 4, 3].map((amount) => [0, amount]),
    });
  });

  test("are a table that spreadsheets run nothing of", () => {
    const rows = [
      row({ key: `=cmd|"/C calc"`, margin: "-0.010000" }),
      row({ key: "a,b\nc" }),
      row({ key: "-1+2" }),
    ];
    expect(csvOf(rows).split("\r\n")).toEqual([
      "key,completed,failed,cancelled,outputs,charged,upstream_cost,margin",
      `"'=cmd|""/C calc""",1,0,0,1,0.010000,,-0.010000`,
      `"a,b\nc",1,0,0,1,0.010000,,`,
      "'-1+2,1,0,0,1,0.010000,,",
      "",
    ]);
  });

  test("of amounts are added as the service adds them", () => {
    for (const [one, other] of [
      ["0.1", "0.2"],
      ["-5", "4.999999"],
      ["999999999.999999", "0.000001"],
      ["-0.000001", "0"],
      ["1999999999.999998", "1"],
    ] as const) {
      const sum = Number(readAmount(one)) + Number(parseAmount(other));
      expect(addAmounts(one, other)).toBe(formatAmount(sum as never));
    }
    for (const text of ["1,5", "", "1.0000001", "1e3", "٣"]) expect(microsOf(text)).toBeUndefined();
    // What the service would refuse is said before it is sent.
    for (const text of ["999999999.999999", "-999999999.999999", "1000000000", "-1000000000.00"])
      expect([text, amountProblem(text) === undefined]).toEqual([text, parseAmount(text) !== undefined]);
    expect([amountProblem("0.00"), amountProblem("-1")]).toEqual([
      "An amount of zero moves nothing.",
      undefined,
    ]);
  });
});

test("a change is told by what differs, and by names before ids", () => {
  const before = { id: "key_1", name: "web", models: null, concurrency: 2 };
  const after = { id: "key_1", name: "web", models: ["a"], concurrency: null };
  expect(changedFields(before, after)).toEqual([
    { name: "models", was: undefined, is: '["a"]' },
    { name: "concurrency", was: "2", is: undefined },
  ]);
  expect(changedFields(null, before).map(({ name }) => name)).toEqual(["name", "concurrency", "id"]);
});

describe.skipIf(CHROMIUM === undefined)("money in the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  let studio: string;
  let first: unknown;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
    const account = await service.ask("POST", "/admin/v1/accounts", { name: "studio", credit: "1.00" });
    studio = String(account.id);
    const terms = { name: "shop", account: "studio", quota: { limit: "0.05", reset: "monthly" } };
    const { key } = await service.ask("POST", "/admin/v1/keys", terms);
    for (const n of [1, 3]) {
      const body = { model: "sandbox-image", prompt: "A fox", size: "64x64", n, sandbox: { delay_ms: 0 } };
      const { task_id } = await service.ask("POST", "/v1/images/generations", body, String(key));
      await service.ask("GET", `/v1/images/status/${task_id}?wait=30`, undefined, String(key));
      first ??= task_id;
    }
    await service.make();
  });
  afterAll(async () => {
    await service?.stop();
  });

  /** Browsers note every answer that is an error, and none at all; these are what the test asked for. */
  const isDone = (at: Visit) =>
    expect(at.problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);
  const balance = async () => (await service.ask("GET", `/admin/v1/accounts/${studio}`)).balance;

  test("is summed up by what the address says, with a table and a file of the same numbers", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("money?by=key");
    const cells = page.getByRole("table", { name: "By key" }).locator("tbody td:first-child");
    await until(() => cells.allTextContents(), ["studio / shop", "default / default"]);
    await page.locator("canvas").first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).last().click(),
    ]);
    const saved = readFileSync(await file.path(), "utf8").split("\r\n");
    expect(file.suggestedFilename()).toMatch(/^usage-by-key-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv$/);
    expect(saved[1]).toMatch(/studio,key_\w+,shop,2,0,0,4,0\.040000,,$/);
    await page.getByLabel("By", { exact: true }).selectOption("account");
    await page.getByRole("table", { name: "By account" }).waitFor();
    await page.getByLabel("Account").selectOption("studio");
    await page.waitForURL((url) => url.href.includes(`by=account&account=${studio}`));
    await seen(page.locator("dd", { hasText: "$0.04" })).waitFor();
    await page.getByText("$0.01 left of $0.05, monthly").waitFor();
    await page.getByText("The numbers").click();
    await page.getByRole("table", { name: "By day" }).locator("tr", { hasText: "$0.04" }).waitFor();
    await at.open("money?since=2020-01-01&until=2020-01-31");
    await page.getByText("No task ended in these days").waitFor();
    await at.open("money?since=2020-13-01");
    await page.getByRole("alert").getByText("Request").waitFor();
    isDone(at);
  });

  test("moves after two questions, and once, though the answer was lost", async () => {
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`accounts/${studio}`);
    const before = String(await balance());
    await page.getByRole("button", { name: "Credit", exact: true }).click();
    const show = page.getByRole("button", { name: "Show what will be written" });
    await page.getByLabel("Amount, USD").fill("ten");
    await show.click();
    await page.getByText("Say why").waitFor();
    expect(await at.violations()).toEqual([]);
    await page.getByLabel("Amount, USD").fill("10.5");
    await page.getByLabel("Reason").fill("invoice <12>");
    await show.click();
    await page.locator("dd", { hasText: "invoice <12>" }).waitFor();
    expect(await balance()).toBe(before);
    let sent = 0;
    await page.route("**/credit", async (route) => {
      const response = await route.fetch();
      sent += 1;
      if (sent === 1) await route.abort();
      else await route.fulfill({ response });
    });
    const write = page.getByRole("button", { name: "Write it" });
    await write.click();
    await seen(page.getByText("The service does not answer")).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Credit", exact: true }).click();
    await until(() => page.getByLabel("Amount, USD").inputValue(), "10.5");
    await show.click();
    await write.click();
    await page.getByText("Written. studio now has").waitFor();
    expect([sent, await balance()]).toEqual([2, addAmounts(before, "10.5")]);
    await page.getByText("invoice <12>").first().waitFor({ state: "attached" });
    isDone(at);
  });

  test("moves by no double click on what shows the entry first, though the second press is where it is written", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`accounts/${studio}`);
    await page.getByRole("button", { name: "Credit", exact: true }).click();
    await page.getByLabel("Amount, USD").fill("5");
    await page.getByLabel("Reason").fill("pressed twice");
    const show = await page.getByRole("button", { name: "Show what will be written" }).boundingBox();
    const write = page.getByRole("button", { name: "Write it" });
    await page.mouse.move((show?.x ?? 0) + 30, (show?.y ?? 0) + 25);
    const press = async (clickCount: number) => {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    await press(1);
    await write.waitFor();
    const before = await balance();
    // Listening before the press: the browser hands it on by another way than what is evaluated, and it may come first.
    await page.evaluate(
      "void (globalThis.pressed = new Promise((done) => addEventListener('click', ({ target }) => done(target.textContent), { once: true })))",
    );
    await press(2);
    expect(await page.evaluate<string>("pressed")).toBe("Write it");
    await page.getByRole("definition").getByText("pressed twice").waitFor();
    expect([await write.getAttribute("aria-busy"), await balance()]).toEqual(["false", before]);
    await press(1);
    await page.getByText("Written. studio now has").waitFor();
    isDone(at);
  });

  test("is shown as it is by then, though somebody else moved some since the screen was read", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`accounts/${studio}`);
    const entry = { amount: "1", reason: "moved meanwhile" };
    await service.ask("POST", `/admin/v1/accounts/${studio}/credit`, entry);
    const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
    const [now, after] = [Number(await balance()), Number(await balance()) + 2].map((each) =>
      money.format(each),
    );
    await page.getByRole("button", { name: "Credit", exact: true }).click();
    await page.getByLabel("Amount, USD").fill("2");
    await page.getByLabel("Reason").fill("never written");
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const values = page.getByRole("dialog").getByRole("definition");
    await until(() => values.allTextContents(), ["studio", "$2.00", "never written", now, after]);
    await page.getByRole("cell", { name: "moved meanwhile" }).waitFor({ state: "attached" });
    isDone(at);
  });

  test("is given back once, from the ledger, which has pages", async () => {
    for (let i = 0; i < 26; i += 1) {
      await service.ask("POST", `/admin/v1/accounts/${studio}/credit`, {
        amount: "0.01",
        reason: `page ${i}`,
      });
    }
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`accounts/${studio}`);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("first credit").waitFor();
    const before = String(await balance());
    await page
      .getByRole("button", { name: /^Refund/ })
      .first()
      .click();
    await page.getByLabel("Amount, USD").fill("1");
    await page.getByLabel("Reason").fill("one was blurred");
    const show = page.getByRole("button", { name: "Show what will be written" });
    await show.click();
    await page.getByText("Type at most 0.030000").waitFor();
    await page.getByLabel("Amount, USD").fill("0.01");
    await show.click();
    expect(await at.violations()).toEqual([]);
    const write = page.getByRole("button", { name: "Write it" });
    const told = page.getByRole("dialog").getByText("was refunded already");
    /** Writes twice, for the first answer is lost. What comes of it is told, though somebody looks away. */
    const writeTwice = async (after: string) => {
      const answer = Promise.withResolvers<void>();
      await page.route("**/refund", async (route) => {
        await route.fetch();
        await answer.promise;
        await route.abort();
      });
      await write.click();
      await until(balance, after);
      for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
      answer.resolve();
      await seen(page.getByText("The service does not answer")).waitFor();
      await page.unroute("**/refund");
      await write.click();
      await told.waitFor();
    };
    await writeTwice(addAmounts(before, "0.01"));
    // It stays where the ledger is read again.
    await page.locator("main td", { hasText: "one was blurred" }).first().waitFor({ state: "attached" });
    expect(await told.isVisible()).toBe(true);
    // The other one, from its own screen, in whole.
    await at.open(`tasks/${first}`);
    await page.getByRole("button", { name: "Refund" }).click();
    await page.getByLabel("Reason").fill("too late");
    await show.click();
    await writeTwice(addAmounts(before, "0.02"));
    await page.getByText("Given back", { exact: true }).nth(1).waitFor({ state: "attached" });
    expect(await told.isVisible()).toBe(true);
    await page.getByRole("button", { name: "Close" }).click();
    // Its screen says so, and offers no second one.
    await page.getByText("Given back", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Refund" }).count()).toBe(0);
    isDone(at);
  });

  test("of a tenant is its own usage alone", async () => {
    await using at = await visit(browser, service.url, { width: 390 });
    await at.signIn(service.key);
    await at.open("money?by=key&account=studio");
    const cells = at.page.getByRole("table", { name: "By key" }).locator("tbody td:first-child");
    await until(() => cells.allTextContents(), ["default"]);
    expect(await at.page.getByText(/Margin|studio|Balances/).count()).toBe(0);
    isDone(at);
  });

  test("leaves a trail of who changed what", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.token);
    await at.open("changes?action=account.credit");
    await at.page.getByText("invoice <12>").waitFor();
    await at.page.getByLabel("What").selectOption("key.create");
    await at.page.getByRole("link", { name: "shop" }).click();
    await at.page.getByRole("heading", { name: "shop", exact: true }).waitFor();
    await at.open("changes?object=nothing");
    await at.page.getByRole("button", { name: "Show all changes" }).click();
    await seen(at.page.getByRole("list", { name: "Changes" }).getByText("account.create")).waitFor();
    isDone(at);
  });
});
