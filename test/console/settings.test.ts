import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { Schemas } from "../../console/api/published.d.ts";
import { MASK } from "../../console/screens/settings/list.ts";
import { answer } from "./support/answers.ts";
import { CHROMIUM, openBrowser, picture, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

describe.skipIf(CHROMIUM === undefined)("settings in the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  /** Browsers note every answer that is an error; these are what the test asked for. */
  const isDone = (at: Visit) =>
    expect(at.problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);

  test("finds settings while their names are typed, and keeps what was found in the address", async () => {
    await using at = await visit(browser, service.url, { width: 390 });
    const { page } = at;
    await answer(page, "config", ({ settings: some }: Schemas["Settings"]) => ({
      settings: some.map((each) =>
        each.key === "proxy"
          ? { ...each, value: MASK, source: "variable", where: "SVC_PROXY" }
          : each.key === "host"
            ? { ...each, value: `<i>${"x".repeat(300)}` }
            : each,
      ),
    }));
    await at.signIn(service.token);
    await at.open("settings");
    const find = page.getByLabel("Find");
    await page.keyboard.press("/");
    await page.locator("[data-filter]:focus").waitFor();
    await page.keyboard.type("sync wait");
    const one = page.getByRole("listitem").filter({ hasText: "sync.wait_seconds" });
    await one.getByText("how long a synchronous call waits").waitFor();
    await one.getByText("takes effect at once").waitFor();
    await page.getByRole("link", { name: "log.level", exact: true }).waitFor({ state: "detached" });
    await find.press("Enter");
    await page.waitForURL("**/console/settings?q=sync+wait");
    // A quick typist goes on before the next frame.
    await find.evaluate<Promise<void>, HTMLInputElement>(async (field) => {
      const tell = (text: string, name: string) => {
        field.value = text;
        field.dispatchEvent(new Event(name, { bubbles: true }));
        return new Promise<void>((resolve) => queueMicrotask(resolve));
      };
      await tell("sync", "change");
      await tell("proxy", "input");
    });
    await page.waitForURL("**/console/settings?q=sync");
    await page.getByText("set, and never shown").waitFor();
    await until(() => find.inputValue(), "proxy");
    await find.fill("");
    await page.getByLabel("Changes take effect").selectOption("restart");
    await seen(
      page.getByText("needs a restart: the address is listened on until the server stops"),
    ).waitFor();
    await page.getByText("<i>xxx").waitFor();
    expect([await at.violations(), await at.overflow()]).toEqual([[], 0]);
    await picture(page, "settings-restart");
    await find.fill("nothing is like this");
    await page.getByRole("button", { name: "Show all settings" }).click();
    await page.getByRole("link", { name: "log.level", exact: true }).waitFor();
    await page.waitForURL("**/console/settings");
    const text = await page.locator("main").textContent();
    for (const secret of [service.token, service.key]) expect(text?.includes(secret)).toBe(false);
    isDone(at);
  });

  test("changes the level of the log for a while, and has the settings read anew", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    const level = () => service.ask("GET", "/admin/v1/log/level");
    const { usual } = await level();
    await at.signIn(service.token);
    await at.open("settings");
    const chosen = usual === "error" ? "warn" : "error";
    await page.getByLabel("Level").selectOption(chosen);
    await page.getByLabel("For", { exact: true }).selectOption("3600");
    await page.reload();
    await page.getByLabel("Level").waitFor();
    await until(() => page.getByLabel("Level").inputValue(), chosen);
    await page.getByRole("button", { name: "Set it" }).click();
    await page.getByText(`then ${usual} again`).waitFor();
    expect(await level()).toEqual({ level: chosen, usual, until: expect.any(Number) });
    await page.getByRole("button", { name: `Back to ${usual}` }).click();
    await page.getByText("as the settings say").waitFor();
    expect(await level()).toEqual({ level: usual, usual, until: null });
    const reload = page.getByRole("button", { name: "Reload" });
    await reload.click();
    await page.getByText("The settings were read anew: nothing has changed.").waitFor();
    await answer(page, "reload", () => ({
      ...{ in_force: true, changed: ["log.level"], restart: ["host"], problems: [] },
    }));
    await reload.click();
    const came = page.getByRole("region", { name: "What came of the reload" });
    await came.getByText(": the address is listened on until the server stops").waitFor();
    await came.getByRole("link", { name: "log.level" }).click();
    await page.waitForFunction("document.querySelector('[data-filter]').value === 'log.level'");
    await page.unroute("**/admin/v1/reload");
    const problem = "svc.yaml:2:3: log.levle is no setting. Did you mean log.level?";
    await answer(page, "reload", () => ({
      ...{ in_force: false, changed: [], restart: [], problems: [problem] },
    }));
    await reload.click();
    await came.getByText(problem).waitFor();
    await picture(page, "settings-reload");
    expect(await at.violations()).toEqual([]);
    await page.getByRole("link", { name: "Who changed what" }).click();
    await seen(page.getByRole("list", { name: "Changes" }).getByText("settings.reload")).waitFor();
    isDone(at);
  });
});
