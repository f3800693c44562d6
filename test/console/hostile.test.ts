import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { CHROMIUM, openBrowser, type View, type Visit, visit } from "./support/browser.ts";
import { type HouseService, startHouse } from "./support/house.ts";
import { MANY_SCREENS_MS, seen, until } from "./support/until.ts";

const SCRIPT = "<script>globalThis.ran = 1</script>";
const PAYLOAD = `${SCRIPT}<img src=x onerror="globalThis.ran = 2"><svg onload="globalThis.ran = 3"></svg><iframe src="javascript:parent.ran = 4"></iframe><a href="javascript:ran = 5">a</a>"'\`\${ran = 6}{{ran = 7}}&lt;b&gt;`;
/** Text that turns the direction round, and does not turn it back. */
const BIDI = "\u202Egpj.exe\u2066\u2067\u200F\u0000\u{E0041}".replace("\u0000", "\u0001");
const LONGEST = `${PAYLOAD} ${BIDI} ${"Z\u0351\u0357".repeat(50)} ${"unbroken".repeat(500)} `;
const PROMPT = LONGEST.padEnd(32_000, "word and more ").slice(0, 32_000);
const NAME = `<img src=x onerror="ran = 14">${SCRIPT.slice(0, 40)}${BIDI.replace("\u0001", "")}`;

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 48" onload="globalThis.ran = 8"><script>globalThis.ran = 9; top.ran = 9</script><foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="globalThis.ran = 10"/></body></foreignObject><image href="https://evil.invalid/x.png"/><rect width="64" height="48" fill="teal"/></svg>`;
const png = await sharp({ create: { width: 64, height: 48, channels: 3, background: "teal" } })
  .png()
  .toBuffer();
const jpeg = await sharp(png)
  .jpeg()
  .withExif({ IFD0: { ImageDescription: SCRIPT } })
  .toBuffer();
/** A script for whoever runs it, a GIF for whoever shows it. */
const GIF_SCRIPT = Buffer.concat([
  Buffer.from("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xfe\x20/*", "latin1"),
  Buffer.from("*/=1;globalThis.ran=11;/*".padEnd(30, " "), "latin1"),
  Buffer.from("\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;", "latin1"),
]);
const RESULTS: Readonly<Record<string, Uint8Array | { readonly refusal: string }>> = {
  "a drawing": Buffer.from(DRAWING),
  "a PNG that goes on as a page": Buffer.concat([png, Buffer.from(`<html>${PAYLOAD}</html>`)]),
  "a JPEG with a page in its words": jpeg,
  "a GIF that is a script": GIF_SCRIPT,
  "a page": Buffer.from(`<!doctype html><html>${PAYLOAD}</html>`),
  "a refusal": { refusal: `${PAYLOAD} ${BIDI}` },
};

describe.skipIf(CHROMIUM === undefined)("hostile content", () => {
  let house: HouseService;
  let browser: Browser;
  let key: string;
  let token: string;
  const made = new Map<string, string>();

  const ask = async (method: string, path: string, body?: object, credential = token) => {
    const response = await fetch(house.server.url + path, {
      method,
      headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    expect([path, response.status, answer]).toEqual([path, 200, expect.anything()]);
    return answer.data;
  };

  beforeAll(async () => {
    const answers = (prompt: string) => RESULTS[prompt] ?? png;
    [house, browser] = await Promise.all([startHouse(NAME, answers), openBrowser()]);
    token = await house.token();
    const { id: account } = await ask("POST", "/admin/v1/accounts", { name: NAME, credit: "5.00" });
    key = String((await ask("POST", "/admin/v1/keys", { name: NAME, account })).key);
    const prompts = ["the longest", ...Object.keys(RESULTS)];
    for (const name of prompts) {
      const prompt = name === "the longest" ? PROMPT : name;
      const callback_url = `https://hooks.invalid/?${encodeURIComponent(PAYLOAD)}`;
      const body = { model: "house-image", prompt, callback_url };
      const { task_id } = await ask("POST", "/v1/images/generations", body, key);
      await ask("GET", `/v1/images/status/${task_id}?wait=30`, undefined, key);
      made.set(name, String(task_id));
    }
  }, 60_000);
  afterAll(async () => {
    await house?.stop();
  });

  const idOf = (name: string) => made.get(name) ?? "";
  /** What has run in the page, and what was made of the payload besides text. */
  const traces = (page: Page) =>
    page.evaluate<unknown>(
      `({ ran: globalThis.ran, made: document.querySelectorAll('img[src=x], main script, iframe, [onload], [onerror], a[href^="javascript:"]').length })`,
    );
  async function enter(view: View, credential = key): Promise<Visit> {
    const at = await visit(browser, house.server.url, view);
    at.page.on("dialog", (dialog) => void dialog.dismiss());
    await at.signIn(credential);
    return at;
  }

  const VIEWS = [
    ["tenant", { width: 390, theme: "dark" }],
    ["operator", { width: 1440, theme: "light" }],
  ] as const;
  test.each(VIEWS)(
    "is text on every screen that shows it, for a %s",
    async (role, view) => {
      await using at = await enter(view, role === "tenant" ? key : token);
      const [longest, refused] = [idOf("the longest"), idOf("a refusal")];
      const screens = ["tasks", "live", "gallery", `gallery?view=${longest}.0`, "callbacks", "money"];
      screens.push(`tasks/${longest}`, `tasks/${refused}`);
      if (role === "tenant") screens.push("account", `playground?from=${longest}`);
      else screens.push("keys", "accounts", "models", "models/house-image", "changes", "providers/house");
      for (const screen of screens) {
        await at.open(screen);
        if (screen.includes("from="))
          await until(() => at.page.locator("main textarea").first().inputValue(), PROMPT);
        else if (screen.includes(longest))
          await seen(at.page.locator("main, dialog[open]").getByText("onerror")).waitFor();
        expect([screen, await traces(at.page)]).toEqual([screen, { ran: undefined, made: 0 }]);
        expect([screen, (await at.overflow()) > 0]).toEqual([screen, false]);
        expect([screen, await at.violations()]).toEqual([screen, []]);
        expect([screen, at.problems]).toEqual([screen, []]);
      }
    },
    MANY_SCREENS_MS,
  );

  test("of 32,000 characters is typed, priced, copied as code, run and shown", async () => {
    await using at = await enter({ width: 390 });
    const { page } = at;
    await at.open("playground?model=house-image");
    const prompt = page.getByLabel("prompt (needed)");
    await prompt.fill(PROMPT);
    await page.getByText("$0.02", { exact: true }).waitFor();
    await page.locator("summary", { hasText: "The same request as code" }).click();
    await page.locator("main pre", { hasText: "onerror" }).waitFor();
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    expect(await prompt.inputValue()).toBe(PROMPT);
    expect(await traces(page)).toEqual({ ran: undefined, made: 0 });
    expect(await at.overflow()).toBe(0);
    expect(at.problems).toEqual([]);
  });

  test.each(Object.keys(RESULTS).slice(0, 4))(
    "as a result, %s, is a picture and runs nothing",
    async (name) => {
      await using at = await enter({ width: 1440 });
      const { page } = at;
      await at.open(`gallery?view=${idOf(name)}.0`);
      const picture = page.locator("dialog[open] img").first();
      await picture.evaluate<void, HTMLImageElement>((image) => image.decode());
      expect(await traces(page)).toEqual({ ran: undefined, made: 0 });
      await at.open(`tasks/${idOf(name)}`);
      await page.locator("main li a img").first().waitFor();
      // By itself, at its own address, where the browser is free to take it for what it likes.
      const opened = page.context().waitForEvent("page");
      await page
        .locator("main li a", { has: page.locator("img") })
        .first()
        .click();
      const alone = await opened;
      await alone.waitForLoadState();
      expect(await alone.evaluate("[globalThis.ran, document.contentType, origin]")).toEqual([
        ...[undefined, expect.stringMatching(/^image\//), "null"],
      ]);
      expect(await traces(page)).toEqual({ ran: undefined, made: 0 });
      expect(at.problems).toEqual([]);
    },
  );

  test("as a result that is a page is refused, and its task says so", async () => {
    await using at = await enter({});
    await at.open(`tasks/${idOf("a page")}`);
    await at.page.locator("dd", { hasText: "failed" }).waitFor();
    expect(await at.page.locator("main li img").count()).toBe(0);
  });

  test("as an input is refused, or taken as the picture that it is, and runs nothing", async () => {
    await using at = await enter({ width: 390 });
    const { page } = at;
    await at.open("playground?model=house-image");
    await page.getByLabel("prompt (needed)").fill("From a picture");
    const field = page.locator('[data-field="image_url"]');
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.locator('input[aria-label="File for image_url"]').setInputFiles({ name, mimeType, buffer });
    const hostileName = `<img src=x onerror="ran = 12">${BIDI}`;
    for (const [name, type, content] of [
      ["drawing.svg", "image/svg+xml", DRAWING],
      ["drawing.png", "image/png", DRAWING],
      [`${hostileName}.png`, "image/png", `<!doctype html>${PAYLOAD}`],
    ] as const) {
      await choose(name, type, Buffer.from(content));
      await field.getByText("is no picture that can be read", { exact: false }).waitFor();
      await field.getByText(name.slice(0, 20), { exact: false }).waitFor();
    }
    await choose(`${hostileName}.gif`, "image/gif", GIF_SCRIPT);
    await field.getByText("made into a JPEG").waitFor();
    await choose(`${hostileName}.png`, "image/png", Buffer.concat([png, Buffer.from(PAYLOAD)]));
    await field.getByText("made into a JPEG").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    expect(await at.overflow()).toBe(0);
    for (const [place, address] of [
      "javascript:globalThis.ran = 13",
      `data:image/svg+xml;base64,${Buffer.from(DRAWING).toString("base64")}`,
      `data:text/html,${SCRIPT}`,
    ].entries()) {
      await field.getByRole("button", { name: /^Remove/ }).click();
      await field.getByRole("button", { name: "Address" }).click();
      await page.getByLabel("Address for image_url").fill(address);
      await page.getByRole("button", { name: "Use it" }).click();
      await field.getByRole("button", { name: /^Remove/ }).waitFor();
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.getByRole("article").getByRole("alert").nth(place).waitFor();
      expect(await traces(page)).toEqual({ ran: undefined, made: 0 });
    }
    expect(at.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  });
});
