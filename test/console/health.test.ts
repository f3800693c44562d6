import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import type { Schemas } from "../../console/api/published.d.ts";
import { answer, minutes, START } from "./support/answers.ts";
import { CHROMIUM, openBrowser, picture, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen } from "./support/until.ts";

describe.skipIf(CHROMIUM === undefined)("health in the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
    await Promise.all([service.make(), service.make({ sandbox: { delay_ms: 0, outcome: "failed" } })]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  /** Browsers note every answer that is an error; these are what the test asked for. */
  const isDone = (at: Visit) =>
    expect(at.problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);

  /** A day of a service that went wrong once. */
  const day = (page: Page) =>
    answer(page, "history", (data: Schemas["History"]) => ({
      ...minutes(360, {
        answered_2xx: (i) => 40 + (i % 60),
        answered_5xx: (i) => (i === 200 ? 12 : 0),
        created: (i) => 3 + (i % 7),
        completed: (i) => 2 + (i % 7),
        failed: (i) => (i % 90 === 0 ? 1 : 0),
        queued: (i) => Math.max(0, 30 - Math.abs(i - 200)),
        lag_p95_ms: (i) => 0.4 + (i % 5) / 10,
        lag_max_ms: (i) => (i === 200 ? 340 : 3),
        rss_bytes: (i) => 180e6 + i * 1e4,
        disk_free_bytes: (i) => 81e9 - i * 1e6,
        data_bytes: () => 2e9,
        wal_bytes: (i) => (i % 30) * 1e5,
      }),
      since: START - 60,
      stages: data.stages,
    }));

  test("says whether all is well, what is done now, and what its first minute will tell", async () => {
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    const { page } = at;
    await answer(page, "history", () => minutes(0));
    await at.signIn(service.token);
    await at.open("health");
    const verdict = page.getByRole("region", { name: "Verdict" });
    await verdict.getByText(/All is well|New tasks are taken[;,]/).waitFor();
    await verdict.getByText(/found nothing wrong$/).click();
    await verdict.getByText("New tasks are taken.", { exact: true }).waitFor();
    await seen(page.getByRole("table", { name: "Queue by lane" }).getByText("sandbox")).waitFor();
    await page.getByText("The first minute is not over yet").waitFor();
    await page
      .getByRole("table", { name: "Time in each stage" })
      .locator("tr", { hasText: "running" })
      .waitFor();
    await seen(page.getByRole("table", { name: "Errors by route" }).getByText(/\d%/)).waitFor();
    await picture(page, "health-first-minute");
    expect([await at.violations(), await at.overflow()]).toEqual([[], 0]);
    isDone(at);
  });

  test("says what is wrong before all else, with what puts it right", async () => {
    await using at = await visit(browser, service.url);
    await answer(at.page, "readiness", () => ({
      ...{ ready: false, reason: "disk_full", shedding: ["lists"] },
      checks: [
        {
          id: "clock",
          status: "warn",
          message: "The clock is <b>behind</b>.",
          fix: "timedatectl set-ntp true",
        },
        { id: "disk_space", status: "error", message: "No space is left.", fix: "Free some." },
      ],
    }));
    await at.signIn(service.token);
    await at.open("health");
    await at.page.getByText("No new tasks are taken: disk full").waitFor();
    const checks = at.page.getByRole("list", { name: "Checks that found something" }).getByRole("listitem");
    expect(await checks.allTextContents()).toEqual([
      expect.stringContaining("No space is left."),
      expect.stringContaining("<b>behind</b>.What puts it right: timedatectl set-ntp true"),
    ]);
    await picture(at.page, "health-wrong");
    isDone(at);
  });

  test("draws the minutes of a day, each plot with its numbers, and saves all of them", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await day(page);
    await at.signIn(service.token);
    await at.open("health?minutes=360");
    await page.locator("canvas").nth(7).waitFor();
    await page.getByText("12 answers were an error of the service (5xx), and 4 tasks failed.").waitFor();
    expect(await page.getByRole("img", { name: /^Requests answered a minute, from / }).count()).toBe(1);
    await page.getByText("The numbers of write-ahead log").click();
    const rows = page.getByRole("table", { name: "Write-ahead log" }).locator("tbody tr");
    await rows.first().waitFor();
    expect([await rows.count(), await rows.first().locator("td").last().textContent()]).toEqual([
      360,
      "2.9 MB",
    ]);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^health-until-\d{4}-\d\d-\d\dT\d{4}\.csv$/);
    expect(readFileSync(await file.path(), "utf8").split("\r\n")).toHaveLength(362);
    const asked = page.waitForRequest(/history\?minutes=1440$/);
    await page.getByLabel("Period").selectOption("1440");
    await asked;
    await page.waitForURL("**/console/health?minutes=1440");
    await page.locator("canvas").nth(7).waitFor();
    await picture(page, "health-day");
    expect([await at.violations(), await at.overflow()]).toEqual([[], 0]);
    isDone(at);
  });

  test("audits the books, and checks the database and the files, when asked to", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("health");
    await page.getByRole("button", { name: "Read every file" }).click();
    await page.getByRole("button", { name: "Audit the books" }).click();
    await page.getByText("The books add up").waitFor();
    await page.getByRole("button", { name: "Check the database" }).click();
    await page.getByText("The database is whole").waitFor();
    await page.getByText("Every file is whole").waitFor();
    await picture(page, "health-closer");
    await answer(page, "audit", (data: Schemas["Audit"]) => ({
      adds_up: false,
      differences: [
        {
          ...{ check: "balance_is_sum", rule: "A balance is the sum of the ledger.", account_id: "acc_1" },
          ...{ key_id: null, task_id: null, model: "<img src=x>", day: null, ledger_entry: null },
          ...{ stored: data.sums.balance, expected: "0.000000" },
        },
      ],
    }));
    await page.getByRole("button", { name: "Audit the books" }).click();
    await page.getByText(/1 check of \d+ found a difference/).waitFor();
    const row = page.getByRole("table", { name: "Differences" }).locator("tbody tr");
    expect(await row.getByRole("link", { name: "acc_1" }).getAttribute("href")).toEndWith("/accounts/acc_1");
    await row.getByText("<img src=x>").waitFor();
    expect(await at.violations()).toEqual([]);
    // No place for backups is set: what sets one is a step away.
    await page.getByText("No place for backups is set").waitFor();
    await page.getByRole("link", { name: "The settings of backups" }).click();
    await page.getByRole("link", { name: "backup.to", exact: true }).waitFor();
    expect(await page.getByLabel("Find").inputValue()).toBe("backup");
    isDone(at);
  });

  test("makes a backup, and says which there are and why none could be made", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    let made = 0;
    const job = { started_at: START, ended_at: START + 65, files_so_far: 9, error: null };
    const result = { path: "/b/7", files: 9, bytes: 2_000_000, copied_bytes: 1_000, missing: 1 };
    await page.route("**/admin/v1/backups", async (handled) => {
      if (handled.request().method() === "POST") made += 1;
      const data = {
        ...{ to: "/backups/<svc>", scheduled: true, newest_at: START, problem: null },
        failing: { since: START, reason: "No space is left." },
        backups: Array.from({ length: 7 }, (_, i) => `2026-11-2${7 - i}T00-00-00Z`),
        job: made === 0 ? { ...job, status: "idle", result: null } : { ...job, status: "done", result },
      };
      await handled.fulfill({ json: { code: 200, message: "success", data } });
    });
    await at.signIn(service.token);
    await at.open("health");
    await page.getByText("/backups/<svc>").waitFor();
    await page.getByText("No space is left.").waitFor();
    await page.getByText("2 older").click();
    await page.getByText("2026-11-21T00-00-00Z").waitFor();
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText("Not there, though the database names them: 1 file.").waitFor();
    expect(made).toBe(1);
    expect(await at.violations()).toEqual([]);
    isDone(at);
  });

  test("offers a token that may only read nothing that it may not do", async () => {
    const reader = await service.ask("POST", "/admin/v1/tokens", { name: "reader", scopes: ["read"] });
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(String(reader.token));
    await at.open("health");
    await page.getByRole("button", { name: "Audit the books" }).waitFor();
    await at.open("settings");
    await page.getByText("as the settings say").waitFor();
    const names = /^(?:Reload|Set it|Read every file|Back up now)$/;
    expect(await page.getByRole("button", { name: names }).count()).toBe(0);
    await at.open("health");
    expect(await page.getByRole("button", { name: names }).count()).toBe(0);
    isDone(at);
  });
});
