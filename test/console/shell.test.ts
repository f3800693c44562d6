import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { CHROMIUM, openBrowser, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const FIELD = "API key or management token";

describe.skipIf(CHROMIUM === undefined)("the console", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
    await service.make();
  });
  afterAll(async () => {
    await service?.stop();
  });

  async function signedIn(credential = service.token): Promise<Visit> {
    const at = await visit(browser, service.url);
    await at.signIn(credential);
    await at.open("tasks");
    await at.page.locator("[data-row]").first().waitFor();
    return at;
  }

  /** Ends every session that is open. */
  async function endSessions(): Promise<void> {
    const { sessions } = await service.ask("GET", "/admin/v1/sessions");
    for (const { id } of sessions as { id: string }[])
      await service.ask("POST", `/admin/v1/sessions/${id}/end`);
  }

  test("says what is wrong with a credential, and keeps none of it", async () => {
    await using at = await visit(browser, service.url);
    await at.page.goto(`${service.url}/console/tasks?status=failed`);
    await at.page.getByLabel(FIELD).fill("sk-svc-wrong");
    await at.page.keyboard.press("Enter");
    await at.page.getByText("The API key is malformed").waitFor();
    expect(await at.page.getByLabel(FIELD).getAttribute("aria-invalid")).toBe("true");
    await at.signIn(service.key);
    await at.page.waitForURL(`${service.url}/console/tasks?status=failed`);
    const kept = await at.page.evaluate(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
    );
    expect(kept).not.toContain(service.key.slice(7));
    expect(kept).not.toContain("svc_session");
  });

  test("closes its menu on a narrow screen at Escape, and when the focus leaves it", async () => {
    await using at = await visit(browser, service.url, { theme: "light", width: 320 });
    await at.signIn(service.key);
    await at.open("tasks");
    await at.page.locator("[data-row]").first().waitFor();
    const menu = at.page.getByRole("button", { name: "Menu" });
    const links = at.page.getByRole("navigation", { name: "Screens" });
    await menu.press("Enter");
    await links.waitFor();
    await links.getByRole("link").first().focus();
    await at.page.keyboard.press("Escape");
    await links.waitFor({ state: "hidden" });
    expect(await menu.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    await menu.press("Enter");
    await at.page.getByRole("button", { name: "Sign out" }).focus();
    await at.page.keyboard.press("Tab");
    await links.waitFor({ state: "hidden" });
  });

  test("is opened by a link that is pasted where it asks for a key", async () => {
    await using at = await visit(browser, service.url);
    await at.page.goto(`${service.url}/console`);
    await at.page.getByLabel(FIELD).waitFor();
    await at.page.goto(String((await service.ask("POST", "/admin/v1/sessions")).url));
    await at.page.locator("[data-row]").first().waitFor();
    await at.page.waitForURL(`${service.url}/console/tasks`);
  });

  test("is opened by a link, which works once and leaves the address", async () => {
    const link = String((await service.ask("POST", "/admin/v1/sessions")).url);
    await using at = await visit(browser, service.url);
    await at.page.goto(link);
    await at.page.locator("[data-row]").first().waitFor();
    await at.page.waitForURL(`${service.url}/console/tasks`);
    await using other = await visit(browser, service.url);
    await other.page.goto(link);
    await other.page.getByText("This link was used already").waitFor();
    await other.page.waitForURL(`${service.url}/console`);
  });

  test("is left by Sign out, and the way back shows nothing", async () => {
    await using at = await signedIn();
    await at.page.getByRole("button", { name: "Sign out" }).click();
    await at.page.getByLabel(FIELD).waitFor();
    await at.page.reload();
    await at.page.getByLabel(FIELD).waitFor();
    expect(await at.page.locator("[data-row]").count()).toBe(0);
  });

  test("shows nothing in a tab whose reader left at another", async () => {
    await using at = await signedIn();
    const other = await at.page.context().newPage();
    await other.goto(`${service.url}/console`);
    await other.getByRole("button", { name: "Sign out" }).click();
    await at.page.getByLabel(FIELD).waitFor();
    expect([await at.page.locator("nav").count(), await at.page.getByRole("dialog").count()]).toEqual([0, 0]);
    await until(() => at.page.title(), "svc console");
  });

  test("loses nothing typed when the session ends, and goes on with what was asked", async () => {
    await using at = await signedIn();
    await at.page.getByLabel("Model").pressSequentially("sandbox-");
    // A task that changes has the list drawn anew.
    const made = await service.make();
    await at.page.locator(`[data-row][href$="${made}"]`).waitFor();
    expect(await at.page.getByLabel("Model").inputValue()).toBe("sandbox-");
    await at.page.keyboard.type("image");
    await endSessions();
    await at.page.getByLabel("Status").selectOption("completed");
    const dialog = at.page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await at.violations()).toEqual([]);
    for (let times = 0; times < 4; times += 1) await at.page.keyboard.press("Escape");
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByLabel(FIELD).fill(service.token);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    await at.page.locator("[data-row]").first().waitFor();
    await at.page.waitForURL((url) =>
      url.href.endsWith("/console/tasks?status=completed&model=sandbox-image"),
    );
    expect(await at.page.getByLabel("Model").inputValue()).toBe("sandbox-image");
  });

  test("says when the service does not answer, and reads anew when it does", async () => {
    await using at = await signedIn();
    await at.page.route("**/admin/v1/**", (route) => route.abort());
    await at.page.getByLabel("Kind").selectOption("image");
    await at.page.getByText("The service does not answer. What you see may be old").waitFor();
    await at.page.unroute("**/admin/v1/**");
    await at.page
      .getByText("The service does not answer. What you see may be old")
      .waitFor({ state: "detached" });
    await at.page.locator("[data-row]").first().waitFor();
  });

  test("is used by keys alone: to a row, into it, and back, with the focus where the reader is", async () => {
    await using at = await signedIn();
    const { page } = at;
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    expect(await at.violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Image by sandbox-image" }).waitFor();
    await page.locator("h1:focus").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
    await page.keyboard.press("/");
    await page.locator('input[placeholder="Model"]:focus').waitFor();
    await page.keyboard.type("gt?");
    await page.waitForURL((url) => url.href.endsWith("/console/tasks"));
    await page.goBack();
    await page.getByRole("heading", { name: "Image by sandbox-image" }).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("has the theme that was chosen, after a reload too", async () => {
    await using at = await signedIn();
    const ground = () =>
      at.page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
    const light = await ground();
    await at.page.getByLabel("Theme").selectOption("dark");
    await until(async () => (await ground()) !== light, true);
    const dark = await ground();
    await at.page.reload();
    await at.page.locator("nav").waitFor();
    await until(ground, dark);
  });

  test("shows nothing of the one before in a tab where somebody else came in at another", async () => {
    await using at = await signedIn(service.token);
    const other = await at.page.context().newPage();
    await other.goto(`${service.url}/console`);
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByLabel(FIELD).fill(service.key);
    await other.getByRole("button", { name: "Sign in" }).click();
    await at.page.getByText("API key", { exact: true }).waitFor();
    expect(await at.page.getByLabel("Account").count()).toBe(0);
  });

  test("tells what changed before somebody looked at a tab, and while nobody was signed in", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.token);
    await at.page.addInitScript(
      "Object.defineProperty(document, 'hidden', { get: () => !window.isLookedAt })",
    );
    await at.open("tasks");
    const row = (id: string) => at.page.locator(`[data-row][href$="${id}"]`);
    const before = await service.make();
    expect(await row(before).count()).toBe(0);
    await at.page.evaluate("window.isLookedAt = true; document.dispatchEvent(new Event('visibilitychange'))");
    await row(before).waitFor();
    await endSessions();
    const dialog = at.page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    const meanwhile = await service.make();
    await dialog.getByLabel(FIELD).fill(service.token);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await row(meanwhile).waitFor();
  });

  test("takes a connection that says nothing any more for a broken one", async () => {
    await using at = await visit(browser, service.url);
    await at.page.clock.install();
    await at.signIn(service.key);
    await at.page.addInitScript(`{
      const real = fetch;
      let silent = 1;
      window.fetch = (url, request) => {
        if (!String(url).endsWith("/v1/events") || silent === 0) return real(url, request);
        silent -= 1;
        const start = (to) => to.enqueue(new TextEncoder().encode("id: 0\\n\\n"));
        return Promise.resolve(new Response(new ReadableStream({ start })));
      };
    }`);
    await at.open("live");
    await at.page
      .getByRole("status")
      .getByText(/^\W*live$/)
      .waitFor();
    await at.page.clock.fastForward(60_000);
    await at.page.getByText(/^The connection broke, and is back since .+ Nothing was missed\.$/).waitFor();
  });

  test("keeps what was typed from whoever comes in next", async () => {
    const holder = { name: "next", scopes: ["read", "money"] };
    const { token } = await service.ask("POST", "/admin/v1/tokens", holder);
    await using at = await signedIn();
    await at.open("accounts/new");
    await at.page.getByLabel("Name").fill("of the one before");
    await endSessions();
    await at.page.getByRole("button", { name: "Create account" }).click();
    const dialog = at.page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel(FIELD).fill(String(token));
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await at.page.getByTitle("next", { exact: true }).waitFor();
    await at.page.getByLabel("Name").waitFor();
    expect(await at.page.getByLabel("Name").inputValue()).toBe("");
  });

  test("tells times by the service's clock, where the reader's is wrong by a day", async () => {
    await service.make();
    await using at = await visit(browser, service.url);
    await at.page.clock.install({ time: Date.now() + 24 * 3_600_000 });
    await at.signIn(service.key);
    await at.open("tasks");
    const first = at.page.locator("tbody tr").first().locator("time");
    await first.getByText(/^(?:now|\d+ sec\. ago)$/).waitFor();
  });

  test("writes money and times as the reader's country does", async () => {
    await using at = await visit(browser, service.url, { locale: "de-DE" });
    await at.signIn(service.key);
    await at.open("tasks");
    const row = at.page.locator("tbody tr").last();
    await until(() => row.locator("td").last().textContent(), "0,01\u00a0$");
    expect(await row.locator("time").getAttribute("title")).toMatch(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/);
  });

  test("keeps a defect to its screen, tells of it, and goes on", async () => {
    await using at = await signedIn();
    await at.page.route("**/admin/v1/tasks?*", (route) =>
      route.fulfill({ json: { code: 200, data: { tasks: [null] } } }),
    );
    await at.page.reload();
    await at.page.getByRole("heading", { name: "This screen does not work" }).waitFor();
    expect(await at.violations()).toEqual([]);
    await at.page.unroute("**/admin/v1/tasks?*");
    await at.page.getByRole("button", { name: "Try again" }).click();
    await at.page.locator("[data-row]").first().waitFor();
  });

  test("tells an error with its request id and what to do, where its answer would have been", async () => {
    await using at = await signedIn();
    const body = { code: 503, message: "Cannot store.", data: { error_code: "service_unavailable" } };
    const answer = { status: 503, json: body, headers: { "X-Request-ID": "req_1" } };
    await at.page.route("**/admin/v1/tasks?*", (route) => route.fulfill(answer));
    await at.page.getByLabel("Kind").selectOption("video");
    const alert = at.page.getByRole("alert");
    await alert.getByText("Cannot store.").waitFor();
    expect(await alert.textContent()).toContain("req_1");
    await at.page.unroute("**/admin/v1/tasks?*");
    await alert.getByRole("button", { name: "Try again" }).click();
    await at.page.getByText("No task is like that").waitFor();
  });

  test("begins with a way past the navigation", async () => {
    await using at = await signedIn();
    await at.page.reload();
    await at.page.locator("[data-row]").first().waitFor();
    await at.page.evaluate("document.body.tabIndex = -1; document.body.focus()");
    await at.page.keyboard.press("Tab");
    await until(() => at.page.evaluate("document.activeElement.textContent.trim()"), "Skip to the content");
    await at.page.keyboard.press("Enter");
    await at.page.locator("h1:focus").waitFor();
  });

  test("tells of an address that leads nowhere", async () => {
    await using at = await signedIn();
    for (const path of ["nowhere", "tasks/%E0%A4%A"]) {
      await at.page.goto(`${service.url}/console/${path}`);
      await at.page.locator("main h1").waitFor();
    }
    await at.page.goto(`${service.url}/console/nowhere`);
    await at.page.getByText("This address leads to no screen that you have").waitFor();
    await at.page.goto(`${service.url}/console/playground`);
    await at.page.getByText("Playground is there for who signs in with an API key").waitFor();
  });

  test("shows hostile text as text", async () => {
    const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202Etxt.exe ${"long".repeat(500)}`;
    const id = await service.make({ prompt: hostile });
    await using at = await signedIn();
    at.page.on("dialog", (dialog) => {
      throw new Error(`It ran: ${dialog.message()}`);
    });
    await at.open(`tasks/${id}`);
    await seen(at.page.getByText("onerror")).waitFor();
    expect(await at.page.locator('img[src="x"], main script').count()).toBe(0);
    expect(await at.overflow()).toBeLessThanOrEqual(0);
    expect(at.problems).toEqual([]);
  });

  test("works below a path of a proxy that moves its cookies there, and says what is needed of one that does not", async () => {
    for (const movesCookies of [false, true]) {
      using proxy = belowPath(service.url, "/media", movesCookies);
      await using at = await visit(browser, proxy.url);
      await at.page.goto(`${proxy.url}/media/console/gallery`);
      await at.page.getByLabel(FIELD).fill(service.key);
      await at.page.keyboard.press("Enter");
      if (movesCookies) {
        const picture = at.page.locator("main li[aria-setsize] img").first();
        await picture.evaluate<void, HTMLImageElement>((image) => image.decode());
        await at.page.getByRole("link", { name: "Tasks", exact: true }).click();
        await at.page.locator("[data-row]").first().waitFor();
        expect(new URL(at.page.url()).pathname).toBe("/media/console/tasks");
      } else {
        await at.page.getByText("the browser does not send its session below /media/").waitFor();
      }
      expect(at.problems).toEqual([]);
    }
  });
});

/** A proxy that has the service below a path. */
function belowPath(target: string, path: string, movesCookies: boolean) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith(`${path}/`)) return new Response(null, { status: 404 });
      const { method, headers, body } = request;
      const passed = { method, headers, body, redirect: "manual", decompress: false } as const;
      const answer = await fetch(target + pathname.slice(path.length) + search, passed);
      const back = new Headers(answer.headers);
      if (movesCookies) {
        const cookies = back.getSetCookie();
        back.delete("set-cookie");
        for (const cookie of cookies) back.append("set-cookie", cookie.replace("Path=/", `Path=${path}/`));
      }
      return new Response(answer.body, { status: answer.status, headers: back });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}
