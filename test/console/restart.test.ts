import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { CHROMIUM, openBrowser, visit } from "./support/browser.ts";
import { tokenOf } from "./support/service.ts";

const BAD_GATEWAY = { status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" };

describe.skipIf(CHROMIUM === undefined)("the console of a service that is away", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterEach(stopServers);

  const prompt = (page: Page) => page.getByLabel("prompt (needed)");
  const run = (page: Page) => page.getByRole("button", { name: /^Run/ });

  test("goes on in the playground: a task in mid-run ends and is shown, what is typed stays, and what was asked meanwhile is made once", async () => {
    const where = { folder: emptyFolder("restart"), port: freePort() };
    const first = await startServer(where);
    const key = first.firstKey();
    await using at = await visit(browser, first.url);
    const { page } = at;
    await at.signIn(key);
    await at.open("playground?model=sandbox-image");
    await prompt(page).fill("Begun before");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await page.getByText("Rehearse a failure").click();
    await page.getByLabel("delay_ms").fill("2500");
    await run(page).click();
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    await page.getByLabel("delay_ms").fill("0");
    await prompt(page).fill("Typed before, ");
    first.signal("SIGKILL");
    await first.exited;
    await page.getByText("The service does not answer. What you see may be old").waitFor();
    await prompt(page).focus();
    await page.keyboard.press("End");
    await page.keyboard.type("and while it was away");
    await run(page).click();
    await page.getByText("It is sent again until it does, and is made once.", { exact: false }).waitFor();
    const second = await startServer(where);
    const runs = page.getByRole("list", { name: "Runs, the latest first" });
    for (const words of ["Typed before, and while it was away", "Begun before"])
      await runs.getByAltText(`Result 1: ${words}`).waitFor();
    await page.getByText("The service does not answer.", { exact: false }).waitFor({ state: "detached" });
    expect(await prompt(page).inputValue()).toBe("Typed before, and while it was away");
    const headers = { Authorization: `Bearer ${key}` };
    const listed = await fetch(`${second.url}/v1/tasks`, { headers });
    const { data } = (await listed.json()) as { data: { tasks: { status: string }[] } };
    expect(data.tasks.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test("reads a screen anew when it is back, though nothing else of the screen asks", async () => {
    const where = { folder: emptyFolder("restart"), port: freePort() };
    const first = await startServer(where);
    await using at = await visit(browser, first.url);
    const { page } = at;
    await at.signIn(await tokenOf(first));
    await at.open("keys");
    first.signal("SIGKILL");
    await first.exited;
    await page.getByRole("link", { name: "Accounts" }).click();
    await page.getByRole("alert").getByText("The service does not answer.").waitFor();
    await startServer(where);
    await page.getByRole("table", { name: "Accounts" }).waitFor();
    await page.getByText("The service does not answer.", { exact: false }).waitFor({ state: "detached" });
  });

  test("takes a proxy's word for its silence: what was asked is made once, and screens are read anew", async () => {
    const service = await startServer();
    const headers = { Authorization: `Bearer ${service.firstKey()}` };
    await using at = await visit(browser, service.url);
    const { page } = at;
    let isAway = true;
    await page.route("**/images/generations", async (route) => {
      const response = await route.fetch();
      if (isAway) await route.fulfill(BAD_GATEWAY);
      else await route.fulfill({ response });
    });
    await page.route("**/console/session", (route) =>
      isAway && route.request().method() === "GET" ? route.fulfill(BAD_GATEWAY) : route.continue(),
    );
    await at.signIn(service.firstKey());
    isAway = false;
    await at.open("playground?model=sandbox-image");
    isAway = true;
    await prompt(page).fill("Made once");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await run(page).click();
    await page.getByText("It is sent again until it does, and is made once.", { exact: false }).waitFor();
    await page.getByText("The service does not answer. What you see may be old").waitFor();
    isAway = false;
    await page.getByAltText("Result 1: Made once").waitFor();
    await page.getByText("The service does not answer.", { exact: false }).waitFor({ state: "detached" });
    const listed = await fetch(`${service.url}/v1/tasks`, { headers });
    const { data } = (await listed.json()) as { data: { tasks: unknown[] } };
    expect(data.tasks).toHaveLength(1);
  });
});
