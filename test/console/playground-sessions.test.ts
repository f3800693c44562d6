import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { CHROMIUM, openBrowser, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const CREDENTIAL = "API key or management token";

describe.skipIf(CHROMIUM === undefined)("the playground", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  const prompt = (page: Page) => page.getByLabel("prompt (needed)");
  const run = (page: Page) => page.getByRole("button", { name: /^Run/ });
  const result = (page: Page, words: string) => page.getByAltText(`Result 1: ${words}`);

  async function enter(clock?: (page: Page) => Promise<void>): Promise<Visit> {
    const at = await visit(browser, service.url);
    await clock?.(at.page);
    await at.signIn(service.key);
    await openForm(at);
    return at;
  }
  async function openForm({ open, page }: Visit): Promise<void> {
    await open("playground?model=sandbox-image");
    await prompt(page).waitFor();
    await page.getByLabel("size", { exact: true }).fill("64x64");
  }
  async function tasksFound(words: string): Promise<number> {
    const { tasks } = await service.ask("GET", `/v1/tasks?q=${words}`, undefined, service.key);
    return (tasks as object[]).length;
  }

  test("keeps what is typed when the session ends, signs in in place, and makes what was asked once", async () => {
    await using at = await enter();
    const { page } = at;
    await prompt(page).fill("Mid-sentence");
    await page.getByText("$0.01", { exact: true }).waitFor();
    // Just before the request: a stream that noticed it earlier would bring the dialog before the press.
    await page.route(
      "**/v1/images/generations",
      async (route) => {
        const { sessions } = await service.ask("GET", "/admin/v1/sessions");
        for (const { id } of sessions as { id: string }[])
          await service.ask("POST", `/admin/v1/sessions/${id}/end`);
        await route.continue();
      },
      { times: 1 },
    );
    await run(page).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await prompt(page).inputValue()).toBe("Mid-sentence");
    await dialog.getByLabel(CREDENTIAL).fill("sk-svc-wrong");
    await page.keyboard.press("Enter");
    await dialog.getByText("The API key is malformed").waitFor();
    await dialog.getByLabel(CREDENTIAL).fill(service.key);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await result(page, "Mid-sentence").waitFor();
    expect(await prompt(page).inputValue()).toBe("Mid-sentence");
    expect(await page.getByLabel("size", { exact: true }).inputValue()).toBe("64x64");
    // A new task is found within about a second.
    await until(() => tasksFound("sentence"), 1);
  });

  test("keeps two tabs apart: each has its own words and runs, also after a reload", async () => {
    await using one = await enter();
    await prompt(one.page).fill("The left tab");
    await one.page.reload();
    await prompt(one.page).waitFor();
    const page = await one.page.context().newPage();
    const two: Visit = {
      ...one,
      page,
      async open(screen) {
        await page.goto(`${service.url}/console/${screen}`);
        await page.locator("main h1").waitFor();
      },
    };
    await openForm(two);
    const tabs = [
      [one.page, "The left tab"],
      [two.page, "The right tab"],
    ] as const;
    expect(await prompt(two.page).inputValue()).toBe("");
    await prompt(two.page).fill("The right tab");
    for (const [tab] of tabs) await run(tab).click();
    for (const [tab, words] of tabs) {
      await result(tab, words).waitFor();
      await tab.reload();
      await result(tab, words).waitFor();
      await until(() => prompt(tab).inputValue(), words);
      expect(await tab.getByRole("article").count()).toBe(1);
    }
    // One of them signs out: the other one shows nothing, and has its words again when the same reader is back.
    await one.page.getByRole("button", { name: "Sign out" }).click();
    await two.page.getByLabel(CREDENTIAL).waitFor();
    expect(await prompt(two.page).count()).toBe(0);
    await two.page.getByLabel(CREDENTIAL).fill(service.key);
    await two.page.keyboard.press("Enter");
    for (const [tab, words] of tabs) await until(() => prompt(tab).inputValue(), words);
    expect(one.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
  });

  test("waits for no file that was on its way when its reader left", async () => {
    await using at = await enter();
    const { page } = at;
    const buffer = Buffer.concat([
      await sharp({ create: { width: 8, height: 8, channels: 3, background: "white" } })
        .png()
        .toBuffer(),
      // Too much for the request itself.
      Buffer.alloc(400_000),
    ]);
    await page.route(
      "**/v1/files",
      async (route) => {
        await page.context().clearCookies();
        await route.continue();
      },
      { times: 1 },
    );
    await page
      .locator('input[aria-label="File for image_url"]')
      .setInputFiles({ name: "white.png", mimeType: "image/png", buffer });
    await page.getByRole("button", { name: "Leave the console" }).click();
    await page.getByLabel(CREDENTIAL).fill(service.key);
    await page.keyboard.press("Enter");
    await prompt(page).fill("After it was left");
    await run(page).click();
    await page.getByRole("article").first().waitFor();
  });

  test("goes on in every tab whose session ended when its reader comes in at one of them", async () => {
    await using at = await enter();
    const made = await service.make();
    const other = await at.page.context().newPage();
    await other.goto(`${service.url}/console/tasks`);
    await other.getByLabel("Kind").waitFor();
    await at.page.context().clearCookies();
    await prompt(at.page).fill("Typed at the end");
    const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Your session has ended" });
    await other.getByLabel("Kind").selectOption("image");
    await dialogOf(other).waitFor();
    await dialogOf(at.page).getByLabel(CREDENTIAL).fill(service.key);
    await at.page.keyboard.press("Enter");
    for (const page of [at.page, other]) await dialogOf(page).waitFor({ state: "detached" });
    expect(await prompt(at.page).inputValue()).toBe("Typed at the end");
    await other.locator(`[data-row][href$="${made}"]`).waitFor();
  });

  test("shows nothing of one key's form to another key's holder in the same tab, and gives it back to its own", async () => {
    const { key } = await service.ask("POST", "/admin/v1/keys", { name: "another" });
    await using at = await enter();
    const { page } = at;
    await prompt(page).fill("Mine alone");
    const change = async (credential: string) => {
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel(CREDENTIAL).fill(credential);
      await page.keyboard.press("Enter");
      await prompt(page).waitFor();
    };
    await change(String(key));
    expect(await prompt(page).inputValue()).toBe("");
    await change(service.key);
    await until(() => prompt(page).inputValue(), "Mine alone");
  });

  test.each([-1, 1])("runs, counts and tells times where the clock is wrong by %d day", async (days) => {
    const time = Date.now() + days * 86_400_000;
    await using at = await enter((page) => page.clock.install({ time }));
    const { page } = at;
    await prompt(page).fill("A wrong clock");
    await page.getByText("Rehearse a failure").click();
    await page.getByLabel("outcome").selectOption({ label: "hang" });
    await run(page).click();
    const card = page.getByRole("article").first();
    await card.getByText(/^\d{1,3} (?:s|%)$/).waitFor();
    await page.getByLabel("outcome").selectOption({ index: 0 });
    await page.getByLabel("delay_ms").fill("0");
    await run(page).click();
    await result(page, "A wrong clock").waitFor();
    await page
      .getByRole("article")
      .first()
      .getByText(/ s · \$0\.01$/)
      .waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("It was cancelled and cost nothing.").waitFor();
    // Days of the service, not of the reader.
    await at.open("money?days=1");
    await seen(page.locator("main tbody").getByText("sandbox-image")).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("works without TLS on another machine, where browsers offer neither UUIDs nor the clipboard", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await page.addInitScript(`
      delete Crypto.prototype.randomUUID;
      Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });
    `);
    await at.signIn(service.key);
    await openForm(at);
    await prompt(page).fill("Over plain HTTP");
    await page.locator("summary", { hasText: "The same request as code" }).click();
    await page.locator("main pre", { hasText: "Over plain HTTP" }).waitFor();
    await page.getByRole("button", { name: "Copy a link to this form" }).click();
    await page.getByText("Copy it by hand: http", { exact: false }).waitFor();
    await run(page).click();
    await result(page, "Over plain HTTP").waitFor();
    expect(at.problems).toEqual([]);
  });
});
