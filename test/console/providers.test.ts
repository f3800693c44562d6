import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import type { Document } from "../../console/api/document.ts";
import { placeOf } from "../../console/screens/model/editor.tsx";
import { hasField, priceFrom, textsOf, unitsIn, whenText } from "../../console/screens/model/price-lines.ts";
import { decidingFields, sumOf } from "../../console/screens/model/quote.tsx";
import type { Model, PriceLine } from "../../console/screens/model/read.ts";
import { starterFor } from "../../console/screens/model/starter.ts";
import { fitting as fittingModels, wordOf as modelWord, needsOf } from "../../console/screens/models/list.ts";
import { isShut, stateOf, targetText } from "../../console/screens/provider/read.ts";
import { fitting, wordOf } from "../../console/screens/providers/list.ts";
import { builtInModels } from "../../src/catalog/catalog.ts";
import { checkManifest } from "../../src/catalog/check-manifest.ts";
import { publishedSchema } from "../../src/domain/model/model-form.ts";
import { priceForm } from "../../src/domain/money/price-form.ts";
import { PRICE_UNITS } from "../../src/domain/money/price-units.ts";
import { CHROMIUM, openBrowser, type Visit, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

const RIGHT_KEY = "bfl-right-0123456789abcdef";
const WRONG_KEY = "bfl-wrong-0123456789abcdef";

/** Black Forest Labs, as far as a test of its keys goes. */
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) =>
    request.headers.get("x-key") === RIGHT_KEY
      ? Response.json({ credits: 250 })
      : Response.json({ detail: `Unknown key ${request.headers.get("x-key")}` }, { status: 403 }),
});
let service: ConsoleService;
beforeAll(async () => {
  service = await startConsole({ SVC_PROVIDERS_BFL_BASE_URL: `http://127.0.0.1:${upstream.port}` });
});
afterAll(async () => {
  await service?.stop();
  await upstream.stop(true);
});

describe("a list of providers", () => {
  const way = (state: string) => ({ state }) as never;
  const listed = (id: string, available: boolean, ways: readonly string[] = []) =>
    ({
      provider: { id, title: id.toUpperCase(), available, needs: available ? [] : [`${id}_KEY`] },
      ways: ways.map(way),
    }) as never;

  test("says in a word how each does", () => {
    const words = [
      listed("a", false),
      listed("a", true, ["closed"]),
      listed("a", true, ["closed", "open"]),
      listed("a", true, ["blocked", "blocked"]),
      listed("a", true, ["open", "refused"]),
    ].map((each) => wordOf(each).word);
    expect(words).toEqual(["off", "on", "partly", "blocked", "no way open"]);
    expect(
      [["closed", "closed"], ["spent"], ["closed", "paused"], []].map((all) => stateOf(all.map(way))),
    ).toEqual(["closed", "spent", "partly", "closed"]);
  });

  test("has an account allowed as a whole where none of its ways is open", () => {
    const shut = [["closed"], ["open", "closed"], [], ["blocked", "open"]].map((all) => isShut(all.map(way)));
    expect(shut).toEqual([false, false, false, true]);
  });

  test("finds names and variables, and keeps states apart", () => {
    const all = [listed("fal", true, ["open"]), listed("bfl", true, ["closed"]), listed("xai", false)];
    const ids = (find: string, state: string) =>
      fitting(all, { find, state }).map(({ provider }) => provider.id);
    expect(ids("", "")).toEqual(["fal", "bfl", "xai"]);
    expect(ids("xai_key", "")).toEqual(["xai"]);
    expect(ids("FAL", "trouble")).toEqual(["fal"]);
    expect([ids("", "on"), ids("", "off")]).toEqual([["bfl"], ["xai"]]);
  });

  test("names an account as the service's commands do", () => {
    expect(targetText({ provider: "fal" })).toBe("fal");
    expect(targetText({ provider: "fal", account: "default" })).toBe("fal");
    expect(targetText({ provider: "fal", account: "second", upstream_model: "flux" })).toBe(
      "flux at fal/second",
    );
  });
});

describe("a list of models", () => {
  const route = (available: boolean, more: object = {}) => ({
    ...{ provider: "fal", upstream_model: "x", available, needs: available ? [] : ["FAL_KEY"] },
    ...more,
  });
  const model = (id: string, available: boolean, routes: readonly object[], more: object = {}) => ({
    model: { id, name: id, kind: "image", modes: ["text-to-image"], available, routes, ...more } as never,
    price: { source: "built_in", unpriced: null } as never,
  });

  test("says whether each can be asked for, and what switches it on", () => {
    const { model: off } = model("a", false, [
      route(false),
      route(false),
      route(false, { needs: ["B", "C"] }),
    ]);
    expect([modelWord(off).word, needsOf(off)]).toEqual(["off", [["FAL_KEY"], ["B", "C"]]]);
    const words = [
      [route(true), route(false)],
      [route(true, { shut: true }), route(false)],
      [route(true, { shut: true }), route(true)],
    ].map((routes) => modelWord({ available: true, routes } as never).word);
    expect(words).toEqual(["ready", "no way open", "partly"]);
  });

  test("finds by words, kind, provider and state", () => {
    const all = [
      model("one", true, [route(true)]),
      model("two", false, [route(false)], { kind: "video", file: "models/two.yaml" }),
      {
        ...model("three", true, [route(true, { shut: true })]),
        price: { source: "set", unpriced: {} } as never,
      },
    ];
    const ids = (filters: object) =>
      fittingModels(all, { find: "", kind: "", state: "", provider: "", ...filters }).map(
        (each) => each.model.id,
      );
    expect(ids({})).toEqual(["one", "two", "three"]);
    expect(ids({ find: "image thr" })).toEqual(["three"]);
    expect([ids({ kind: "video" }), ids({ state: "own" }), ids({ state: "off" })]).toEqual([
      ...[["two"], ["two"], ["two"]],
    ]);
    expect([ids({ state: "priced" }), ids({ state: "unpriced" }), ids({ state: "trouble" })]).toEqual([
      ...[["three"], ["three"], ["three"]],
    ]);
    expect([ids({ provider: "fal" }), ids({ provider: "bfl" })]).toEqual([["one", "two", "three"], []]);
  });
});

describe("the form of a price", () => {
  test.each(builtInModels().map((model) => [model.id, model] as const))(
    "shows that of %s so that nothing is changed until somebody changes it",
    (_, model) => {
      const { lines } = priceForm(model.price) as unknown as { readonly lines: readonly PriceLine[] };
      // It is a JSON Schema.
      const fields = (publishedSchema(model) as unknown as Model["schema"]).properties ?? {};
      const { price, problems } = priceFrom(textsOf(lines, fields), "", fields);
      expect(problems).toEqual({});
      const short = lines.map((line) => ({ ...line, amount: line.amount.replace(/(\.\d\d\d*?)0+$/, "$1") }));
      expect(price).toEqual({ lines: short });
    },
  );

  const FIELDS = { duration: { type: "integer" }, hd: { type: "boolean" }, size: { enum: ["1K", "2K"] } };
  const line = (change: object) => ({
    ...{ sku: "a", unit: "output", amount: "0.01", per: "", most: "", when: "" },
    ...change,
  });

  test("reads conditions with the values of the model's fields", () => {
    const when = "duration = 5, 10\nhd=true\n\nsize = 2K\nmode = text-to-image";
    const { price } = priceFrom([line({ when, per: "1000", most: " 4 " })], "0.02", FIELDS);
    expect(price).toEqual({
      lines: [
        {
          ...{ sku: "a", unit: "output", amount: "0.01", per: 1_000, most: 4 },
          when: { duration: [5, 10], hd: true, size: "2K", mode: "text-to-image" },
        },
      ],
      minimum: "0.02",
    });
  });

  test("keeps as JSON what its own words would change", () => {
    expect(whenText({ size: "1K" }, FIELDS)).toBe("size = 1K");
    for (const when of [{ size: ["1K"] }, { style: "a, b" }, { duration: "5" }, { style: 5 }]) {
      const text = whenText(when, FIELDS);
      expect(text).toBe(JSON.stringify(when));
      expect(priceFrom([line({ when: text })], "", FIELDS).price.lines).toMatchObject([{ when }]);
    }
  });

  test("says beside the field what it cannot read, by the service's names", () => {
    const lines = [line({ when: "{size" }), line({ per: "many", when: "size" })];
    const { problems } = priceFrom(lines, "", FIELDS);
    expect(Object.keys(problems)).toEqual([
      "price.lines[0].when",
      "price.lines[1].when",
      "price.lines[1].per",
    ]);
    expect(Object.keys(problems).every(hasField)).toBe(true);
    expect(["price", "price.lines", "price.lines[0]", "price.lines[0].other"].some(hasField)).toBe(false);
  });

  test("offers what the service says that prices are counted in", async () => {
    // The tests of the document check that it is one.
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
    expect(unitsIn(document)).toEqual(PRICE_UNITS);
  });
});

describe("a quote", () => {
  test("asks for what a price depends on, and for no file", () => {
    const rules = { prompt: {}, n: {}, image_url: {}, tone: {}, seed: {}, duration: {} };
    const model = { schema: { properties: rules }, inputs: [{ field: "image_url" }] } as never;
    const price = { price: { lines: [{ when: { tone: "warm", mode: "x", image_url: "y" } }] } } as never;
    expect(decidingFields(model, price)).toEqual(["n", "tone", "duration"]);
  });

  test("is said in words, also where there is no price", () => {
    const quote = (status: string, least: string | null, most: string | null, missing: string[] = []) =>
      sumOf({ status, min_cost: least, max_cost: most, missing } as never);
    expect(quote("exact", "0.010000", "0.010000")).toMatch(/0[.,]01/);
    expect(quote("range", "0.010000", "0.020000")).toMatch(/0[.,]01.* to .*0[.,]02.*, which is held$/);
    expect(quote("needs_input", null, null, ["duration"])).toBe("The price depends on duration");
    expect(quote("unpriced", null, null)).toBe("It has no price, and is refused");
  });
});

test.each(["sandbox", "fal"])(
  "the manifest to begin with is taken by the checker, made by %s",
  (provider) => {
    const deps = { builtIn: builtInModels(), providers: () => ["sandbox", "fal"] };
    expect(checkManifest(deps, starterFor(provider))).toEqual({ id: "my-model" as never, findings: [] });
  },
);

test("a place of a text is found by its line and column", () => {
  const text = "id: a\nkind: song\n";
  expect(text.slice(placeOf(text, 2, 7))).toBe("song\n");
  expect(placeOf(text, 1, 1)).toBe(0);
});

describe.skipIf(CHROMIUM === undefined)("in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  /** Browsers note every answer that is an error; these are what the test asked for. */
  const isDone = (at: Visit) =>
    expect(at.problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);
  const wayOf = async (model: string) => {
    const { routes } = await service.ask("GET", "/admin/v1/routes");
    return (routes as { upstream_model: string; state: string; detail?: string }[]).find(
      (way) => way.upstream_model === model,
    );
  };
  const storedIn = (page: Page) =>
    page.evaluate<string>("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])");

  test("a provider is switched on by its key, tested, blocked, allowed and switched off", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("providers?find=forest");
    await page.locator("td", { hasText: "BFL_API_KEY" }).waitFor();
    await page.getByRole("link", { name: "Black Forest Labs" }).click();
    await page.getByText("It is off").waitFor();
    await page.getByRole("button", { name: "Add a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Keep and test it" }).click();
    await dialog.getByText("Type or paste it.").waitFor();
    await dialog.getByLabel("Key", { exact: true }).fill("two words");
    await dialog.getByRole("button", { name: "Keep and test it" }).click();
    await dialog.locator("p[id$=about]", { hasText: "printable ASCII" }).waitFor();
    expect(await at.violations()).toEqual([]);
    await dialog.getByLabel("Key", { exact: true }).fill(WRONG_KEY);
    await dialog.getByRole("button", { name: "Keep and test it" }).click();
    await dialog.getByText("The key, the account or the region is wrong.").waitFor();
    await dialog.getByRole("button", { name: "Give it another key" }).click();
    expect(await dialog.getByLabel("Key", { exact: true }).inputValue()).toBe("");
    await dialog.getByLabel("Key", { exact: true }).fill(RIGHT_KEY);
    await dialog.getByRole("button", { name: "Keep and test it" }).click();
    await dialog.getByText("$2.50 left there").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByText("kept sealed in the data folder").waitFor();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("its key works").waitFor();
    for (const key of [WRONG_KEY, RIGHT_KEY]) {
      expect(await page.content()).not.toContain(key);
      expect(await storedIn(page)).not.toContain(key);
    }
    expect(await at.violations()).toEqual([]);

    await page.getByRole("button", { name: "Block default", exact: true }).click();
    await page.getByLabel("Reason").fill("invoice <b>due</b>");
    await page.getByRole("button", { name: "Block it" }).click();
    await page.getByRole("button", { name: "Allow default", exact: true }).waitFor();
    await seen(page.getByText("invoice <b>due</b>")).waitFor();
    expect(await wayOf("flux-2-pro")).toMatchObject({ state: "blocked", detail: "invoice <b>due</b>" });
    await page.getByRole("button", { name: "Allow default", exact: true }).click();
    await page.getByRole("button", { name: "Allow it" }).click();
    await page.getByRole("button", { name: "Allow default", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Block flux-2-pro at default" }).click();
    await page.getByRole("button", { name: "Block it" }).click();
    await page.getByText("some models are kept from it").waitFor();
    expect([(await wayOf("flux-2-pro"))?.state, (await wayOf("flux-2-max"))?.state]).toEqual([
      ...["blocked", "closed"],
    ]);
    await page.getByRole("button", { name: "Allow flux-2-pro at default" }).click();
    await page.getByRole("button", { name: "Allow it" }).click();
    await page.getByText("some models are kept from it").waitFor({ state: "detached" });

    await page.getByText("How svc talks to it").click();
    await page.getByRole("region", { name: "Its form" }).getByText("provider: bfl").waitFor();
    await page.getByRole("button", { name: "Remove the key of default" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove the key" }).click();
    await page.getByText("It is off").waitFor();
    const { entries } = await service.ask("GET", "/admin/v1/audit-log?object=bfl");
    const actions = (entries as { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(["provider.add", "provider.remove", "route.block"]));
    isDone(at);
  });

  const BROKEN = starterFor("sandbox").replace("my-model", "house").replace("kind: image", "kind: song");

  test("a model is written with the checker's findings at their lines, changed and removed", async () => {
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    const { page } = at;
    await at.signIn(service.token);
    await at.open("models/~new");
    await page.getByText("It can be used as my-model.").waitFor();
    const area = page.getByLabel("The new model, YAML");
    await area.fill(BROKEN);
    await page.locator("[data-marked='2']").waitFor();
    const finding = page.getByRole("button", { name: /^Line 2:7/ });
    await finding.click();
    const rest = await area.evaluate<string, HTMLTextAreaElement>((place) =>
      place.value.slice(place.selectionStart),
    );
    expect(rest).toStartWith("song");
    expect(await at.violations()).toEqual([]);
    expect(await at.overflow()).toBe(0);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("It cannot be used yet. What is wrong is told at its lines.").waitFor();
    await page.reload();
    await until(() => area.inputValue(), BROKEN);
    await area.fill(BROKEN.replace("kind: song", "kind: image"));
    await page.keyboard.press("Control+s");
    await page.getByRole("heading", { name: "My model" }).waitFor();
    expect((await service.ask("GET", "/admin/v1/models/house")).file).toBe("models/house.yaml");
    await until(async () => (await storedIn(page)).includes("name: My model"), false);

    const file = page.getByLabel("models/house.yaml, YAML");
    const mine = (await file.inputValue()).replace("name: My model", "name: Mine");
    await file.fill(mine);
    const theirs = mine.replace("name: Mine", "name: Theirs");
    await service.ask("PUT", "/admin/v1/models/house/manifest", { text: theirs });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("models/house.yaml is another one by now").waitFor();
    expect((await service.ask("GET", "/admin/v1/models/house/manifest")).text).toBe(theirs);
    await page.getByRole("button", { name: "Save mine in its place" }).click();
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    expect((await service.ask("GET", "/admin/v1/models/house/manifest")).text).toBe(mine);

    await file.focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("weight: 2");
    expect(await file.inputValue()).toContain("\n    upstream_model: picture\n    weight: 2\n");
    await page.getByRole("button", { name: "Undo my changes" }).last().click();
    await until(() => file.inputValue(), mine);
    await page.getByRole("button", { name: "Remove this model" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await page.getByRole("heading", { name: "Models and prices" }).waitFor();
    const { entries } = await service.ask("GET", "/admin/v1/audit-log?object=house");
    expect((entries as { action: string }[])[0]?.action).toBe("model.remove");
    isDone(at);
  });

  test("a price is quoted, set with what is wrong beside its field, and removed", async () => {
    await using at = await visit(browser, service.url, { theme: "dark" });
    const { page } = at;
    await at.signIn(service.token);
    await at.open("models?find=sandbox-image");
    await page.getByRole("link", { name: "Sandbox Image" }).click();
    const costs = (text: string) =>
      page
        .locator("[data-quote]")
        .and(page.getByText(text, { exact: true }))
        .waitFor();
    await costs("$0.01");
    await page.getByLabel("n", { exact: true }).fill("3");
    await costs("$0.03");
    await page.getByLabel("Multiplier").fill("2");
    await costs("$0.06");
    await page.getByLabel("n", { exact: true }).fill("300");
    await seen(page.locator("p[id$=about].text-bad")).waitFor();
    await page.getByLabel("n", { exact: true }).fill("");
    await page.getByLabel("Multiplier").fill("");

    await page.getByText("Set another price").click();
    await page.getByLabel("Amount, USD").fill("free");
    await page.getByLabel("Reason").fill("winter price");
    const set = page.getByRole("button", { name: "Set this price" });
    await set.click();
    await page.getByRole("button", { name: "Set it" }).click();
    await page.locator("input:focus").and(page.getByLabel("Amount, USD")).waitFor();
    await seen(page.locator("p[id$=about].text-bad")).waitFor();
    expect(await at.violations()).toEqual([]);
    await page.reload();
    await until(() => page.getByLabel("Reason").inputValue(), "winter price");
    await page.getByLabel("Amount, USD").fill("0.05");
    await page.getByRole("button", { name: "Add a line" }).click();
    await page.getByLabel("Amount, USD").last().fill("0.10");
    await page.getByLabel("Only where").last().fill("resolution = 2K");
    await set.click();
    await page.getByRole("dialog").getByText("where resolution is 2K").waitFor();
    await page.getByRole("button", { name: "Set it" }).click();
    await seen(page.getByText("winter price")).waitFor();
    await costs("$0.05");
    expect(await service.ask("GET", "/admin/v1/pricing/sandbox-image")).toMatchObject({
      ...{ source: "set", reason: "winter price" },
      price: { lines: [{ amount: "0.050000" }, { amount: "0.100000", when: { resolution: "2K" } }] },
    });
    await page.getByLabel("resolution", { exact: true }).selectOption({ label: "2K" });
    await costs("$0.15");
    await at.open("models?state=priced");
    await page.locator("td", { hasText: "set here" }).waitFor();
    await page.getByRole("link", { name: "Sandbox Image" }).click();
    await page.getByRole("button", { name: "Remove this price" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove this price" }).click();
    await page.getByText("It is the model's own.").waitFor();
    isDone(at);
  });

  test("a price that somebody else has set meanwhile is told before it is replaced", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("models/sandbox-upscale");
    await page.getByText("Set another price").click();
    await page.getByLabel("Amount, USD").fill("0.05");
    const theirs = { lines: [{ sku: "upscale", unit: "output", amount: "0.07" }] };
    await service.ask("PATCH", "/admin/v1/pricing/sandbox-upscale", { price: theirs });
    const set = async () => {
      await page.getByRole("button", { name: "Set this price" }).click();
      await page.getByRole("button", { name: "Set it" }).click();
    };
    const amountNow = async () => {
      const { price } = await service.ask("GET", "/admin/v1/pricing/sandbox-upscale");
      return (price as { lines: { amount: string }[] }).lines.map(({ amount }) => amount);
    };
    await set();
    await page.getByRole("alert").getByText("Somebody else has set another price meanwhile").waitFor();
    await page.getByRole("cell", { name: "$0.07 / output" }).waitFor();
    expect(await amountNow()).toEqual(["0.070000"]);
    expect(await page.getByLabel("Amount, USD").inputValue()).toBe("0.05");
    await set();
    await page.getByRole("cell", { name: "$0.05 / output" }).waitFor();
    expect(await amountNow()).toEqual(["0.050000"]);
    isDone(at);
  });

  test("all of it is read alone by a token that may only read, and is nothing of a tenant's", async () => {
    const { token } = await service.ask("POST", "/admin/v1/tokens", { name: "reader", scopes: ["read"] });
    const text = starterFor("sandbox").replace("my-model", "read-alone");
    await service.ask("PUT", "/admin/v1/models/read-alone/manifest", { text });
    await using at = await visit(browser, service.url);
    await at.signIn(String(token));
    const actions = at.page
      .locator("main button, main a, main summary, main textarea")
      .filter({ hasText: /^(?:Add a key|Test|Block|Allow|Remove|Set another|Save|Write a model)/ });
    for (const screen of ["providers", "providers/sandbox", "models", "models/sandbox-image"]) {
      await at.open(screen);
      expect([screen, await actions.allTextContents()]).toEqual([screen, []]);
    }
    await at.open("models/read-alone");
    await at.page
      .getByRole("region", { name: "models/read-alone.yaml" })
      .getByText("id: read-alone")
      .waitFor();
    isDone(at);
    await using tenant = await visit(browser, service.url);
    await tenant.signIn(service.key);
    for (const screen of ["providers", "models", "models/sandbox-image"]) {
      await tenant.open(screen);
      await tenant.page.getByText("There is nothing here").waitFor();
    }
    isDone(tenant);
  });
});
