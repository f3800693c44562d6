import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { CHROMIUM, openBrowser, picture, type View, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAE0lEQVR42mNk+M+ABzDhkxwlAAD//wMAX2QCEvZ0GnEAAAAASUVORK5CYII=",
  "base64",
);

/** Whether what has the focus is in the page, and another thing is over it. */
const BEHIND_A_BAR = `(() => {
  const { left, top, height } = document.activeElement.getBoundingClientRect();
  const over = document.elementFromPoint(left + 8, top + height / 2)?.closest("header, [data-bar]");
  return document.activeElement.closest("header, [data-bar]") === null && over != null;
})()`;

/** A picture of half a megabyte. */
function noise(): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  return sharp({ create: { width: 420, height: 420, channels: 3, background: "white", noise } })
    .png()
    .toBuffer();
}

describe.skipIf(CHROMIUM === undefined)("the playground", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  async function enter(screen = "playground", view: View = {}): Promise<Visit> {
    const at = await visit(browser, service.url, view);
    await at.signIn(service.key);
    await at.open(screen);
    await at.page.getByLabel("prompt (needed)").waitFor();
    return at;
  }
  const run = (page: Page) => page.getByRole("button", { name: /^Run/ });
  const price = (page: Page) => page.locator("[data-price]");
  const field = (page: Page, name: string) => page.locator(`[data-field="${name}"]`);

  test("prices, runs and shows", async () => {
    await using at = await enter("playground?model=sandbox-image", { width: 390, theme: "dark" });
    const { page } = at;
    await page.getByText("$0.01", { exact: true }).waitFor();
    await page.getByLabel("n", { exact: true }).fill("3");
    await page.getByText("$0.03", { exact: true }).waitFor();
    await page.getByLabel("size", { exact: true }).fill("96x96");
    await page.getByLabel("prompt (needed)").fill('A fox <img src=x onerror="alert(1)">');
    await page.keyboard.press("Control+Enter");
    await page.getByRole("link", { name: "Download result 3" }).waitFor();
    await page.getByText(/ · \$0\.03$/).waitFor();
    expect(await page.locator("main img[alt^='Result']").count()).toBe(3);
    await picture(page, "playground-done-dark-390");
    expect(await at.violations()).toEqual([]);
    expect(await at.overflow()).toBe(0);
    expect(at.problems).toEqual([]);
  });

  test("tells each rule beside its field, and leads to the first fault", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await run(page).click();
    await field(page, "prompt").getByText("prompt is needed.").waitFor();
    await page.locator("textarea:focus").waitFor();
    await page.getByLabel("prompt (needed)").fill("x");
    await page.getByLabel("n", { exact: true }).fill("11");
    await field(page, "n").getByText("n must be from 1 to 10.").waitFor();
    await page.getByLabel("n", { exact: true }).fill("");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await page.getByLabel("aspect_ratio").selectOption({ label: "1:1" });
    await field(page, "aspect_ratio")
      .getByText("Give size or aspect_ratio with resolution, not both.")
      .waitFor();
    expect(await at.violations()).toEqual([]);
    expect(at.problems).toEqual([]);
  });

  test("rehearses a failure, which is explained and costs nothing; cancels what hangs", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await page.getByLabel("prompt (needed)").fill("x");
    await page.getByText("Rehearse a failure").click();
    await page.getByLabel("outcome").selectOption({ label: "moderated" });
    await run(page).click();
    const card = page.getByRole("article").first();
    await card.getByText("CONTENT_MODERATED").waitFor();
    await card.getByText("Change the prompt or the inputs, and create a new task.").waitFor();
    await page.getByLabel("outcome").selectOption({ label: "hang" });
    await run(page).click();
    await page.getByRole("article").first().getByRole("button", { name: "Cancel" }).click();
    await page.getByText("It was cancelled and cost nothing.").waitFor();
    expect(at.problems).toEqual([]);
  });

  test("runs once for a press that is doubled and for a key that is held", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    const runs = page.getByRole("article");
    const hold = async (key: string) => {
      for (let times = 0; times < 5; times += 1) await page.keyboard.down(key);
      await page.keyboard.up(key);
    };
    await page.getByLabel("prompt (needed)").fill("x");
    const size = page.getByLabel("size", { exact: true });
    await size.fill("64x64");
    await run(page).dblclick();
    await page.keyboard.down("Control");
    await size.fill("64x48");
    await hold("Enter");
    await page.keyboard.up("Control");
    await size.fill("48x64");
    await hold("Enter");
    await until(() => page.getByAltText("Result 1: x").count(), 3);
    expect(await runs.count()).toBe(3);
    await page.getByLabel("prompt (needed)").focus();
    await hold("Enter");
    expect(await page.getByLabel("prompt (needed)").inputValue()).toBe("x\n\n\n\n\n");
    expect(at.problems).toEqual([]);
  });

  test("shows early versions while they are made", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await page.getByLabel("prompt (needed)").fill("x");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await page.getByText("More settings").click();
    await page.getByLabel("partial_images").fill("3");
    await page.getByText("Rehearse a failure").click();
    await page.getByLabel("delay_ms").fill("1500");
    // Looked for from before it begins: they are there for a moment only.
    await Promise.all([seen(page.getByAltText(/^Early version/)).waitFor(), run(page).click()]);
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("compares models side by side, and says what each does not get", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await page.getByRole("button", { name: "+ Compare with another" }).click();
    await page.getByLabel("Find").fill("text-to-video");
    await page.locator('[data-model="sandbox-video"]').click();
    await page.getByLabel("prompt (needed)").fill("A fox");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await field(page, "duration").getByText("Only for Sandbox Video.").waitFor();
    await page.getByLabel("duration", { exact: true }).fill("1");
    await page.getByText("gets all but size", { exact: false }).waitFor();
    await page.getByText("$0.03 for 2 models").waitFor();
    await page.getByRole("button", { name: "Run on 2" }).click();
    await page.locator("main video").waitFor();
    await page.getByAltText("Result 1: A fox").waitFor();
    expect(page.url()).toContain("model=sandbox-image%2Csandbox-video");
    expect(await at.violations()).toEqual([]);
    expect(at.problems).toEqual([]);
  });

  test("takes files by choosing and by pasting, refuses what cannot be used, and paints a mask by keyboard", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    const choose = (name: string, file: { name: string; mimeType: string; buffer: Buffer }) =>
      page.locator(`input[aria-label="File for ${name}"]`).setInputFiles(file);
    const heic = Buffer.concat([Buffer.from("\0\0\0\x18ftypheic"), Buffer.alloc(400)]);
    await choose("image_url", { name: "IMG_1.HEIC", mimeType: "image/heic", buffer: heic });
    await field(page, "image_url")
      .getByText("IMG_1.HEIC is a HEIC picture, as telephones take them", { exact: false })
      .waitFor();
    await choose("image_url", { name: "cut.png", mimeType: "image/png", buffer: PICTURE.subarray(0, 30) });
    await field(page, "image_url").getByText("cut.png cannot be decoded", { exact: false }).waitFor();
    await page.evaluate(`{
      const file = new File([], "film.mp4", { type: "video/mp4" });
      Object.defineProperty(file, "size", { value: 2e9 });
      document.querySelector("[data-drop=image_url]").dispatchEvent(new CustomEvent("take", { detail: [file] }));
    }`);
    await field(page, "image_url").getByText("film.mp4 has 2 GB", { exact: false }).waitFor();
    const drawn = await page.evaluate<string>(`{
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [40, 20];
      canvas.getContext("2d").fillRect(0, 0, 40, 20);
      canvas.toDataURL();
    }`);
    const good = Buffer.from(drawn.split(",")[1] ?? "", "base64");
    await choose("image_url", { name: "good.png", mimeType: "image/png", buffer: good });
    await field(page, "image_url").getByText("good.png").waitFor();
    await page.getByRole("button", { name: "Draw on the picture" }).click();
    await page.getByRole("application").focus();
    for (const key of ["Space", "Shift+ArrowRight", "Space", "Control+z"]) await page.keyboard.press(key);
    await page.getByRole("application", { name: /1 strokes/ }).waitFor();
    expect(await at.violations()).toEqual([]);
    await picture(page, "playground-mask");
    await page.getByRole("button", { name: "Use this mask" }).click();
    await field(page, "mask_url").getByText("drawn mask").waitFor();
    await page.getByLabel("prompt (needed)").focus();
    await page.evaluate(`{
      const pasted = new DataTransfer();
      const bytes = Uint8Array.from(atob("${good.toString("base64")}"), (character) => character.charCodeAt(0));
      pasted.items.add(new File([bytes], "pasted.png", { type: "image/png" }));
      document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, cancelable: true }));
    }`);
    await field(page, "image_urls").getByText("pasted.png").waitFor();
    await page.getByText("Give image_url or image_urls, not both.").waitFor();
    await page.getByRole("button", { name: "Remove pasted.png from image_urls" }).click();
    await field(page, "mask_url").getByText("drawn mask").waitFor();
    await page.getByLabel("prompt (needed)").fill("x");
    await run(page).click();
    // A mask without the dot would be refused.
    await page.getByRole("button", { name: "Use as input: result 1" }).waitFor();
    // All of it is there again after a reload, the pictures too.
    await page.reload();
    await field(page, "mask_url").getByText("drawn mask").waitFor();
    await page.getByRole("button", { name: "Use as input: result 1" }).waitFor();
    await until(() => page.getByLabel("prompt (needed)").inputValue(), "x");
    expect(at.problems).toEqual([]);
  });

  test("uploads larger files once, keeps them over a reload, and runs nothing without them", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    let arrived = 0;
    const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
    await page.route("**/v1/files", async (route) => {
      arrived += 1;
      if (arrived > 1) {
        await isBack;
        return route.continue();
      }
      // The file arrives, the answer does not.
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.getByLabel("prompt (needed)").fill("From a large picture");
    const input = page.locator('input[aria-label="File for image_url"]');
    await input.setInputFiles({ name: "noise.png", mimeType: "image/png", buffer: await noise() });
    await field(page, "image_url").getByText("noise.png is uploaded again", { exact: false }).waitFor();
    await run(page).click();
    await page.getByText("A file is still on its way.", { exact: false }).waitFor();
    comeBack();
    await field(page, "image_url").getByRole("button", { name: "Remove noise.png from image_url" }).waitFor();
    const { files } = await service.ask("GET", "/v1/files", undefined, service.key);
    expect([arrived, (files as object[]).length]).toEqual([2, 1]);
    await page.locator("summary", { hasText: "The same request as code" }).click();
    await page.locator("main pre", { hasText: "data:image/png;base64,$(base64 < noise.png" }).waitFor();
    await page.reload();
    await field(page, "image_url").getByRole("button", { name: "Remove noise.png from image_url" }).waitFor();
    await field(page, "image_url")
      .locator("li img")
      .evaluate<void, HTMLImageElement>((image) => image.decode());
    await run(page).click();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    const { tasks } = await service.ask("GET", "/v1/tasks?limit=1", undefined, service.key);
    expect(tasks).toMatchObject([{ status: "completed" }]);
  });

  test("has a mask drawn, enlarged, inverted and drawn on, and loses none of it by Escape", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    const give = (name: string, mimeType: string, content: string) =>
      page
        .locator('input[aria-label="File for image_url"]')
        .setInputFiles({ name, mimeType, buffer: Buffer.from(content, "base64") });
    const drawn = await page.evaluate<string>(
      `(() => { const canvas = document.createElement("canvas"); [canvas.width, canvas.height] = [40, 20]; return canvas.toDataURL(); })()`,
    );
    await give("wide.png", "image/png", drawn.split(",")[1] ?? "");
    await page.getByRole("button", { name: "Draw on the picture" }).click();
    const canvas = page.getByRole("application");
    const count = (strokes: number) =>
      page.getByRole("application", { name: `${strokes} strokes` }).waitFor();
    const stroke = async (button: "left" | "right") => {
      const box = await canvas.boundingBox();
      const [left, top] = [(box?.x ?? 0) + 5, (box?.y ?? 0) + 5];
      await page.mouse.move(left, top);
      await page.mouse.down({ button });
      await page.mouse.move(left + 20, top, { steps: 3 });
      await page.mouse.up({ button });
    };
    await stroke("right");
    await count(0);
    await stroke("left");
    await count(1);
    await page.getByRole("button", { name: "Paint all" }).click();
    await count(2);
    await page.keyboard.press("Control+z");
    await count(1);
    // Nothing is painted then, and Undo brings it back.
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.locator("button:disabled", { hasText: "Use this mask" }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await count(1);
    for (let times = 0; times < 4; times += 1) await page.keyboard.press("Escape");
    await count(1);
    const widthOf = async () => Math.round((await canvas.boundingBox())?.width ?? 0);
    const fitting = await widthOf();
    await page.getByLabel("Zoom").fill("4");
    await until(widthOf, fitting * 4);
    await page.getByRole("button", { name: "Invert" }).click();
    await page.getByRole("button", { name: "Use this mask" }).click();
    /** Opacity of the mask where it was painted, and at its other end. */
    const ends = () =>
      page.evaluate<number[]>(`(async () => {
        const image = document.querySelector("[data-field=mask_url] li img");
        await image.decode();
        const context = new OffscreenCanvas(40, 20).getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, 40, 20);
        return [data[3], data.at(-1)];
      })()`);
    await field(page, "mask_url").getByText("drawn mask").waitFor();
    expect(await ends()).toEqual([255, 0]);
    // The code reads it from a file of this name, which lies nowhere yet.
    const saved = page.waitForEvent("download");
    await page.getByRole("link", { name: "Save drawn mask" }).click();
    expect((await saved).suggestedFilename()).toBe("drawn-mask.png");
    // The drawing goes on where it was, and what was not touched is left by one Escape.
    await page.getByRole("button", { name: "Draw on the picture" }).click();
    await count(2);
    await page.keyboard.press("Escape");
    await canvas.waitFor({ state: "detached" });
    // Forms that the service does not read keep their transparent parts.
    await give("dot.gif", "image/gif", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");
    await field(page, "image_url").getByText("made into a PNG").waitFor();
    expect(at.problems).toEqual([]);
  });

  test("says what is refused although no field is wrong, where its key lost the model meanwhile", async () => {
    const { id, key } = await service.ask("POST", "/admin/v1/keys", { name: "narrowed" });
    await using at = await visit(browser, service.url);
    await at.signIn(String(key));
    await at.open("playground?model=sandbox-image");
    const { page } = at;
    await page.getByText("$0.01", { exact: true }).waitFor();
    await service.ask("PATCH", `/admin/v1/keys/${id}`, { models: ["sandbox-video"] });
    await page.getByLabel("prompt (needed)").fill("A fox");
    await price(page).getByText("may not use", { exact: false }).waitFor();
    await run(page).click();
    const results = page.getByRole("region", { name: "Results" });
    await results
      .getByText("Whoever manages this service can give the key what it lacks.", { exact: false })
      .waitFor();
    expect(at.problems.filter((problem) => !problem.includes("403"))).toEqual([]);
  });

  test("begins from a task, from a link, and from an earlier result", async () => {
    const id = await service.make({ prompt: "A lighthouse", n: 2, seed: 5 });
    await using at = await enter(`playground?from=${id}`);
    const { page } = at;
    await page.waitForFunction("document.querySelector('textarea')?.value === 'A lighthouse'");
    await until(() => page.getByLabel("seed", { exact: true }).inputValue(), "5");
    await field(page, "image_url").getByRole("button", { name: "Earlier result" }).click();
    await page
      .getByRole("button", { name: /^Use result 1 of task/ })
      .first()
      .click();
    await field(page, "image_url")
      .getByRole("button", { name: /^Remove/ })
      .waitFor();
    await page.getByLabel("n", { exact: true }).fill("1");
    await page.getByText("$0.01", { exact: true }).waitFor();
    await run(page).click();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    const result = page.getByRole("img", { name: /^Result 1/ }).first();
    await result.dragTo(page.locator("[data-drop=image_urls]"));
    await field(page, "image_urls").getByText("asset_", { exact: false }).waitFor();
    await at.open(`playground?model=sandbox-video&with=${encodeURIComponent('{"prompt":"B","duration":2}')}`);
    await page.waitForFunction("document.querySelector('textarea')?.value === 'B'");
    await page.getByText("$0.04", { exact: true }).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("keeps what has the focus clear of the bars that stay in sight, forwards and backwards", async () => {
    await using at = await enter("playground?model=sandbox-image", { width: 390 });
    const { page } = at;
    await page.setViewportSize({ width: 390, height: 500 });
    await page.getByLabel("prompt (needed)").focus();
    for (const key of ["Tab", "Shift+Tab"])
      for (let step = 0; step < 20; step += 1) {
        await page.keyboard.press(key);
        expect([key, step, await page.evaluate(BEHIND_A_BAR)]).toEqual([key, step, false]);
      }
  });

  test("says when a model is not there, and keeps what was given", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open("playground?model=gone-model");
    await at.page.getByText("gone-model is not there any more, or was never.", { exact: false }).waitFor();
    await at.page.getByRole("button", { name: /^Model 1: gone-model/ }).click();
    await at.page.locator('[data-model="sandbox-image"]').click();
    await at.page.getByLabel("prompt (needed)").waitFor();
  });

  test("goes on by itself when the service comes back: what was sent is made once", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await page.getByLabel("prompt (needed)").fill("Once only, after a silence");
    await page.getByLabel("size", { exact: true }).fill("64x64");
    await page.getByText("$0.01", { exact: true }).waitFor();
    let arrived = 0;
    // The request arrives, its answer does not.
    await page.route("**/v1/images/generations", async (route) => {
      arrived += 1;
      if (arrived > 2) return route.continue();
      if (arrived === 2) await route.fetch();
      await route.abort("connectionreset");
    });
    await run(page).click();
    await page.getByText("It is sent again until it does, and is made once.", { exact: false }).waitFor();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    // A new task is found within about a second.
    await until(async () => {
      const { tasks } = await service.ask("GET", "/v1/tasks?q=silence", undefined, service.key);
      return (tasks as object[]).length;
    }, 1);
    expect(arrived).toBe(3);
  });

  test("gives the same request as code, without the key", async () => {
    await using at = await enter("playground?model=sandbox-image");
    const { page } = at;
    await page.getByLabel("prompt (needed)").fill("It's a fox");
    await page.locator("summary", { hasText: "The same request as code" }).click();
    for (const [language, part] of [
      ["curl", `"prompt": "It's a fox"`],
      ["svc", "svc image 'It'\\''s a fox'"],
      ["openai (Python)", 'base_url="http'],
    ] as const) {
      await page.getByLabel("Language").selectOption(language);
      const code = page.locator("main pre");
      await until(async () => [language, (await code.textContent())?.includes(part)], [language, true]);
      expect(await code.textContent()).not.toContain(service.key);
    }
    expect(await at.violations()).toEqual([]);
    await until(() => price(page).textContent(), "$0.01");
    expect(at.problems).toEqual([]);
  });
});
