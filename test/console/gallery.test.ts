import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Locator } from "playwright-core";
import sharp from "sharp";
import {
  type Filters,
  type Found,
  fits,
  idAt,
  itemsOf,
  withMore,
  withTask,
} from "../../console/screens/gallery/list.ts";
import { inBranches } from "../../console/screens/task/branches.ts";
import { MOST_TOLD } from "../../console/screens/tasks/list.ts";
import { createIds } from "../../src/runtime/ids.ts";
import { HIGH_PROFILE_MP4 } from "../helpers/media-high-profile.ts";
import { haveMany, scrollToTheEnd, listedTask as task } from "./support/answers.ts";
import { CHROMIUM, openBrowser, picture, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const ALL: Filters = {
  ...{ q: "", status: "", kind: "", model: "" },
  ...{ day: "", cost: "", key: "", account: "" },
};
const FILM = { model: "sandbox-video", prompt: "A slow river", duration: 1, sandbox: { delay_ms: 0 } };

/** The colour of that film, as `colourOf` tells it. */
const BLUE = [32, 96, 192];

/** The colour in the middle of a film, once it is drawn, to the next multiple of eight. */
async function colourOf(film: Locator): Promise<number[]> {
  await film.evaluate<void, HTMLVideoElement>(DRAWN);
  const { data, info } = await sharp(await film.screenshot())
    .raw()
    .toBuffer({ resolveWithObject: true });
  const middle = (Math.floor(info.height / 3) * info.width + Math.floor(info.width / 2)) * info.channels;
  return [...data.subarray(middle, middle + 3)].map((value) => Math.round(value / 8) * 8);
}

const DRAWN = (film: HTMLVideoElement): Promise<void> =>
  new Promise((resolve) => {
    // They would cover a film as small as that.
    film.controls = false;
    const look = () => {
      if (film.readyState < 2) film.addEventListener("loadeddata", look, { once: true });
      else requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    };
    look();
  });

describe("results that a stream changes", () => {
  const found: Found = {
    items: [...itemsOf(task("task_5")), ...itemsOf(task("task_3"))],
    next: "task_3",
    lookedTo: 1,
  };
  const ids = (changed: ReturnType<typeof task>, filters = ALL) =>
    withTask(found, changed, filters).items.map(({ id }) => id);

  test("come in their place, each with all that its task has, and go when they fit no more", () => {
    expect(ids(task("task_7"))).toEqual(["task_7.0", "task_5.0", "task_3.0"]);
    expect(ids(task("task_4", { result: ["http://x/1.png", "http://x/2.png"] }))).toEqual([
      "task_5.0",
      "task_4.0",
      "task_4.1",
      "task_3.0",
    ]);
    // It is on a later page, or not done.
    expect(ids(task("task_1"))).toEqual(["task_5.0", "task_3.0"]);
    expect(ids(task("task_8", { status: "processing" }))).toEqual(["task_5.0", "task_3.0"]);
    expect(ids(task("task_5", { files_removed_at: 9 }))).toEqual(["task_3.0"]);
  });

  test("are no more than are kept, with all results of a task, and the others can be read again", () => {
    const result = ["http://x/1.png", "http://x/2.png", "http://x/3.png"];
    const tellMany = (start: Found) => {
      let list = start;
      for (let i = 0; i < 600; i += 1) list = withTask(list, task(`task_${5_000 + i}`, { result }), ALL);
      return list;
    };
    const told = tellMany({ items: [], next: null, lookedTo: 1 });
    expect(told.items.length).toBe(Math.ceil(MOST_TOLD / 3) * 3);
    expect([told.items[0]?.id, told.items.at(-1)?.id, told.next]).toEqual([
      ...["task_5599.0", "task_5266.2", "task_5266"],
    ]);
    const older = Array.from({ length: 2_000 }, (_, i) => itemsOf(task(`task_${4_999 - i}`))).flat();
    const start: Found = { items: [], next: "task_5000", lookedTo: 1 };
    expect(tellMany(withMore(start, { items: older, next: null, lookedTo: 1 })).items.length).toBe(2_000);
  });

  test("fit a day, a cost and a key", () => {
    const noon = new Date("2026-11-24T12:00").getTime() / 1000;
    const made = { ...task("task_5", { created_at: noon }), key: { id: "key_1", name: "web" } };
    expect(fits(made, { ...ALL, day: "2026-11-24", cost: "0.04", key: "web" })).toBe(true);
    for (const other of [{ day: "2026-11-23" }, { cost: "0.05" }, { key: "shop" }, { status: "failed" }])
      expect([other, fits(made, { ...ALL, ...other })]).toEqual([other, false]);
  });

  test("are looked for from a moment on by the ids of that moment", () => {
    const now = Date.parse("2026-11-24T12:00:00Z");
    const id = createIds({ now: () => now }).create("task");
    expect(idAt(now).slice(0, 14)).toBe(id.slice(0, 14));
    expect(idAt(now) < id && id < idAt(now + 1)).toBe(true);
  });
});

test("a family is told by branches, the members of which stand after what they were made from", () => {
  const member = (id: string, parent: string | null) => ({
    ...{ task_id: id, parent_id: parent, relation: null, deleted: false },
  });
  const members = [
    member("a", null),
    member("b", "a"),
    member("c", "a"),
    member("d", "b"),
    member("e", "gone"),
  ];
  expect(inBranches(members).map(({ member: { task_id }, depth }) => `${task_id}${depth}`)).toEqual([
    ...["a0", "b1", "d2", "c1", "e0"],
  ]);
});

describe.skipIf(CHROMIUM === undefined)("the gallery", () => {
  let service: ConsoleService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
  });
  afterAll(async () => {
    await service?.stop();
  });

  test("teaches a newcomer, and shows the first result as soon as it is done", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open("gallery");
    await at.page.getByText("Nothing was made yet").waitFor();
    await picture(at.page, "gallery-empty");
    const id = await service.make({ prompt: "A lighthouse <b>at dusk</b>" });
    await at.page.locator(`main li a[href*="${id}.0"] img`).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("shows one result large, goes to its neighbours by arrow keys, and gives the focus back", async () => {
    const older = await service.make({ prompt: "An owl in the rain", n: 2 });
    const newer = await service.make({ prompt: "A fox <script>alert(1)</script>" });
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    await at.signIn(service.key);
    await at.open("gallery");
    const dialog = at.page.locator("dialog[open]");
    await at.page.locator(`main li a[href*="${newer}.0"]`).click();
    await seen(dialog.getByText("A fox <script>alert(1)</script>")).waitFor();
    await picture(at.page, "gallery-viewer-390");
    expect(await at.violations()).toEqual([]);
    expect(await at.overflow()).toBe(0);
    await at.page.keyboard.press("ArrowRight");
    await seen(dialog.getByText("An owl in the rain")).waitFor();
    await at.page.keyboard.press("ArrowRight");
    await at.page.waitForURL((url) => url.searchParams.get("view") === `${older}.1`);
    const download = at.page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toBe(`${older}-2.png`);
    await at.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await at.page.locator(`main li a[href*="${older}.1"]:focus`).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("finds by words of the prompt, model, status and day, and keeps them in the address", async () => {
    const heron = await service.make({ prompt: "One heron only" });
    const failed = await service.make({ sandbox: { delay_ms: 0, outcome: "failed" } });
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open("gallery");
    await at.page.getByLabel("Words of the prompt").fill("heron");
    // A new task is found within about a second.
    await at.page.getByLabel("Words of the prompt").press("Enter");
    await at.page.locator("main li a").nth(1).waitFor({ state: "detached" });
    await until(async () => {
      const { tasks } = await service.ask("GET", "/v1/tasks?q=heron", undefined, service.key);
      return (tasks as object[]).length;
    }, 1);
    await at.open("gallery?q=heron");
    await at.page.locator(`main li a[href*="${heron}"]`).waitFor();
    expect(await at.page.locator("main li a").count()).toBe(1);
    await at.open("gallery?status=failed");
    await at.page.locator(`main li a[href*="${failed}.0"]`).getByText("failed").waitFor();
    await at.open("gallery?day=2001-02-03");
    await at.page.getByText("No result is like that").waitFor();
    await at.page.getByRole("button", { name: "Show all results" }).click();
    await at.page.locator(`main li a[href*="${heron}"]`).waitFor();
    const today = await at.page.evaluate("new Date().toISOString().slice(0, 10)");
    await at.open(`gallery?day=${today}&cost=0.0001&model=sandbox-image`);
    await at.page.locator(`main li a[href*="${heron}"]`).waitFor();
    expect(at.problems).toEqual([]);
  });

  test("shows the browser's own first picture of a film that the service cannot decode", async () => {
    const made = await service.ask("POST", "/v1/videos/generations", FILM, service.key);
    const id = String(made.task_id);
    await service.ask("GET", `/v1/videos/status/${id}?wait=30`, undefined, service.key);
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    let asked = 0;
    await at.page.route("**/assets/*.mp4*", (route) => {
      const isThumbnail = new URL(route.request().url()).searchParams.has("w");
      if (!isThumbnail) return route.fulfill({ contentType: "video/mp4", body: HIGH_PROFILE_MP4 });
      asked += 1;
      return route.fulfill({ status: 404, json: { code: 404, message: "no decoder", data: {} } });
    });
    await at.open("gallery?kind=video");
    const film = at.page.locator(`main li a[href*="${id}.0"] video`);
    await until(() => colourOf(film), BLUE);
    await at.open("tasks?kind=video");
    await until(() => colourOf(at.page.locator("main tbody tr video").first()), BLUE);
    // The service is asked once for as long as the page is open.
    const before = asked;
    await at.page.getByRole("link", { name: "Gallery" }).click();
    await film.click();
    const viewer = at.page.locator("dialog[open] video");
    await until(() => colourOf(viewer), BLUE);
    expect(asked - before).toBe(0);
  });

  test("deletes a task once it was asked, and makes one again for each press but the second of a double click", async () => {
    const id = await service.make({ prompt: "Gone soon" });
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open(`gallery?view=${id}.0`);
    const dialog = at.page.locator("dialog[open]").first();
    let asked = 0;
    at.page.on("request", (request) => {
      if (request.url().endsWith("/retry")) asked += 1;
    });
    const again = dialog.getByRole("button", { name: "Make it again" });
    await again.click();
    await dialog.getByText("It is being made").waitFor();
    // The second press of a double click, though the first one is answered, is charged nothing; a press of its own is.
    await again.hover();
    await at.page.mouse.down({ clickCount: 2 });
    await at.page.mouse.up({ clickCount: 2 });
    await again.click();
    await until(async () => asked, 2);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await at.page.getByRole("button", { name: "Leave it as it is" }).click();
    await service.ask("GET", `/v1/tasks/${id}`, undefined, service.key);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await at.page.getByRole("button", { name: "Delete for good" }).click();
    await at.page.locator(`main li a[href*="${id}"]`).waitFor({ state: "detached" });
    const { status } = await fetch(`${service.url}/v1/tasks/${id}`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    expect(status).toBe(404);
    expect(at.problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  test("makes variations and larger versions, and shows the family that they are", async () => {
    const first = await service.make({ prompt: "The ancestor", seed: 7 });
    await using at = await visit(browser, service.url, { width: 390 });
    await at.signIn(service.key);
    await at.open(`gallery?view=${first}.0`);
    const dialog = at.page.locator("dialog[open]");
    await dialog.getByRole("button", { name: "Again, another seed" }).click();
    await dialog.getByText("It is being made").waitFor();
    await dialog.getByRole("button", { name: "Make it larger" }).click();
    await dialog.getByText("sandbox-upscale makes it.", { exact: false }).waitFor();
    const { tasks } = await service.ask("GET", `/v1/tasks/${first}/tree`, undefined, service.key);
    const [, variation, larger] = tasks as { task_id: string; relation: string }[];
    expect([variation?.relation, larger?.relation]).toEqual(["variation", "upscale"]);
    await service.ask("GET", `/v1/images/status/${larger?.task_id}?wait=30`, undefined, service.key);
    await at.open(`gallery?view=${larger?.task_id}.0`);
    const family = at.page.getByRole("navigation", { name: "Family" });
    await family.locator("a[aria-current=true]", { hasText: "upscale" }).waitFor();
    expect(await family.getByRole("listitem").count()).toBe(3);
    expect(await at.violations()).toEqual([]);
    expect(await at.overflow()).toBe(0);
    await picture(at.page, "gallery-family-390");
    await family.getByRole("link", { name: "the first" }).click();
    await seen(dialog.getByText("The ancestor")).waitFor();
    await at.open(`tasks/${first}`);
    await family.getByRole("link", { name: "variation" }).click();
    await at.page.waitForURL(`${service.url}/console/tasks/${variation?.task_id}`);
    await using operator = await visit(browser, service.url);
    await operator.signIn(service.token);
    await operator.open(`tasks/${variation?.task_id}`);
    const line = operator.page.getByRole("navigation", { name: "Family" });
    await line.locator("a[aria-current=true]", { hasText: "variation" }).waitFor();
    expect(await line.getByRole("listitem").count()).toBe(3);
    expect(await operator.violations()).toEqual([]);
    await line.getByRole("link", { name: "the first" }).click();
    await operator.page.waitForURL(`${service.url}/console/tasks/${first}`);
    expect([...at.problems, ...operator.problems]).toEqual([]);
  });

  test("gives a result to the next request as its input, by a model that takes such", async () => {
    const id = await service.make({ prompt: "Used twice", n: 2 });
    const film = await service.ask("POST", "/v1/videos/generations", FILM, service.key);
    await service.ask("GET", `/v1/videos/status/${film.task_id}?wait=30`, undefined, service.key);
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.key);
    const use = async (result: string, field: string) => {
      await at.open(`gallery?view=${result}`);
      await page.locator("dialog[open]").getByRole("link", { name: "Use as input" }).click();
      await page.getByText(`It is given as ${field}.`).waitFor();
    };
    await use(`${id}.1`, "image_url");
    const field = page.locator('[data-field="image_url"]');
    await field.getByText(`…${id.slice(-8)} · 2`).waitFor();
    await field.locator("img").evaluate<void, HTMLImageElement>((image) => image.decode());
    await page.getByLabel("prompt (needed)").fill("Made of the second");
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("link", { name: "Download result 1" }).waitFor();
    const { tasks } = await service.ask("GET", "/v1/tasks?limit=1", undefined, service.key);
    const [{ task_id: made } = { task_id: "" }] = tasks as { task_id: string }[];
    const { request } = await service.ask("GET", `/v1/tasks/${made}`, undefined, service.key);
    const source = await service.ask("GET", `/v1/tasks/${id}`, undefined, service.key);
    const [input] = (request as { inputs: { field: string; url: string }[] }).inputs;
    const bytes = async (url = "") => Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(input?.field).toBe("image_url");
    expect((await bytes(input?.url)).equals(await bytes((source.result as string[])[1]))).toBe(true);
    // The model that is chosen takes no film: another one is.
    await use(`${film.task_id}.0`, "video_url");
    await page
      .locator('[data-field="video_url"]')
      .getByText(`…${String(film.task_id).slice(-8)} · 1`)
      .waitFor();
    await at.open("playground?model=sandbox-image");
    await until(() => page.getByLabel("prompt (needed)").inputValue(), "Made of the second");
    await at.open("playground?use=task_01jd0000000000000000000000.0");
    await page.getByText("That result cannot be used", { exact: false }).waitFor();
    expect(at.problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  test("makes two results of a task larger, although the answer of the first is lost", async () => {
    const id = await service.make({ prompt: "A pair", n: 2 });
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open(`gallery?view=${id}.0`);
    const dialog = at.page.locator("dialog[open]");
    const larger = dialog.getByRole("button", { name: "Make it larger" });
    await at.page.route(
      "**/upscale",
      async (route) => {
        await route.fetch();
        await route.abort("connectionreset");
      },
      { times: 1 },
    );
    await larger.click();
    await dialog.getByText("The service does not answer.").waitFor();
    await dialog.getByRole("button", { name: "Next result" }).click();
    // Not its place: what the lost call made may have come before it.
    await at.page.waitForURL((url) => url.searchParams.get("view") === `${id}.1`);
    await larger.click();
    await dialog.getByText("sandbox-upscale makes it.", { exact: false }).waitFor();
    const { tasks } = await service.ask("GET", `/v1/tasks/${id}/tree`, undefined, service.key);
    const family = tasks as { relation: string | null }[];
    expect(family.map(({ relation }) => relation)).toEqual([null, "upscale", "upscale"]);
  });

  test("goes on where a film ends, once however often it is pressed, and says why where that cannot be", async () => {
    const made = await service.ask("POST", "/v1/videos/generations", FILM, service.key);
    const id = String(made.task_id);
    await service.ask("GET", `/v1/videos/status/${id}?wait=30`, undefined, service.key);
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await at.open(`gallery?view=${id}.0`);
    const dialog = at.page.locator("dialog[open]");
    const extend = async () => {
      await dialog.getByRole("button", { name: "Go on from its end" }).click();
      const choice = at.page.getByRole("dialog", { name: "Go on from its end" });
      if (isMaker) return;
      await choice.getByLabel("Model").selectOption("sandbox-video-edit");
      expect(await at.violations()).toEqual([]);
      await choice.getByRole("button", { name: "Make it" }).click();
    };
    let isMaker = false;
    // The answer of the first press is lost.
    await at.page.route("**/extend", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await extend();
    await dialog.getByText("The service does not answer.").waitFor();
    await at.page.unroute("**/extend");
    await extend();
    await dialog.getByText("sandbox-video-edit makes it.", { exact: false }).waitFor();
    const { tasks } = await service.ask("GET", `/v1/tasks/${id}/tree`, undefined, service.key);
    const family = tasks as { task_id: string; relation: string | null; parent_id: string | null }[];
    expect(family.map(({ relation, parent_id }) => [relation, parent_id])).toEqual([
      [null, null],
      ["extend", id],
    ]);
    const longer = family[1]?.task_id ?? "";
    await service.ask("GET", `/v1/videos/status/${longer}?wait=30`, undefined, service.key);
    await at.open(`gallery?view=${longer}.0`);
    await dialog.locator("video").waitFor();
    isMaker = true;
    const refusal = { code: 400, message: "It cannot go on.", data: { error_code: "invalid_request" } };
    await at.page.route("**/extend", (route) => route.fulfill({ status: 400, json: refusal }));
    await extend();
    await dialog.getByText("It cannot go on.").waitFor();
    expect(at.problems.filter((problem) => !/ERR_CONNECTION_RESET|400/.test(problem))).toEqual([]);
  });

  test("shows operators all accounts, by key, without what would spend or delete", async () => {
    const id = await service.make({ prompt: "Seen by all" });
    const { key } = (await service.ask("GET", `/v1/tasks/${id}`, undefined, service.key)) as {
      key: { id: string };
    };
    await using at = await visit(browser, service.url);
    await at.signIn(service.token);
    await at.open(`gallery?key=${key.id}&view=${id}.0`);
    const dialog = at.page.locator("dialog[open]");
    await seen(dialog.getByText("Seen by all")).waitFor();
    await picture(at.page, "gallery-viewer-1440");
    expect(await at.violations()).toEqual([]);
    expect(await dialog.getByRole("button", { name: /Delete|again/ }).count()).toBe(0);
    await at.open("gallery?key=key_of_nobody");
    await at.page.getByText("No result is like that").waitFor();
    expect(at.problems).toEqual([]);
  });

  test("shows a tenant nothing of another's, by a link either", async () => {
    const { id: account } = await service.ask("POST", "/admin/v1/accounts", {
      name: "neighbour",
      credit: "5.00",
    });
    const other = await service.ask("POST", "/admin/v1/keys", { name: "other", account });
    const id = await service.make({ prompt: "Mine alone" });
    await using at = await visit(browser, service.url);
    await at.signIn(String(other.key ?? other.secret));
    await at.open("gallery");
    await at.page.getByText("Nothing was made yet").waitFor();
    await at.open(`gallery?view=${id}.0`);
    await at.page.locator("dialog[open]").getByRole("alert").waitFor();
    expect(await at.page.getByText("Mine alone").count()).toBe(0);
  });

  test("of thousands has only those in sight in the page, and shows new ones without moving them", async () => {
    await using at = await visit(browser, service.url);
    await at.signIn(service.key);
    await haveMany(at.page, service.url, 3_000);
    await at.open("gallery");
    const size = async () => Number(await at.page.locator("main li").first().getAttribute("aria-setsize"));
    const most = await scrollToTheEnd(at.page, "main li", { count: 3_000, size });
    expect(most).toBeLessThan(150);
    await service.make();
    await at.page.getByRole("button", { name: "Show 1 new" }).click();
    await at.page.waitForFunction("scrollY === 0");
  });
});
