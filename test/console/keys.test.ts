import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { Browser, Page } from "playwright-core";
import type { Document } from "../../console/api/document.ts";
import { changedTerms, spanText, termsOf, textsOf } from "../../console/api/terms.ts";
import { fitting, limitsText } from "../../console/screens/keys/list.ts";
import { ACCOUNT_TERMS } from "../../src/domain/access/account-terms.ts";
import { KEY_TERMS } from "../../src/domain/access/key-policy.ts";
import type { Term } from "../../src/domain/access/term.ts";
import { SNIPPETS } from "../../src/snippets/all.ts";
import { answer, havePages } from "./support/answers.ts";
import { CHROMIUM, openBrowser, type Visit, visit } from "./support/browser.ts";
import { runSnippet, settingsOf } from "./support/run-snippet.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { seen, until } from "./support/until.ts";

let service: ConsoleService;
let document: Document;
beforeAll(async () => {
  service = await startConsole();
  // The tests of the document check that it is one.
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
});
afterAll(() => service?.stop());

describe("the form of terms", () => {
  /** What the console calls the kinds that lists have in the table. */
  const KINDS: Readonly<Record<string, string>> = { patterns: "list", ranges: "list" };

  test.each([
    ["POST /admin/v1/keys", KEY_TERMS],
    ["PATCH /admin/v1/keys/{id}", KEY_TERMS],
    ["PATCH /admin/v1/accounts/{id}", ACCOUNT_TERMS],
  ] as const)("of %s has every term of the service's table, in its order", (operation, table) => {
    const terms = Object.values<Term>(table).map(({ wire, kind, label, unset }) => ({
      ...{ name: wire, kind: KINDS[kind] ?? kind, label },
      unset: unset?.means,
    }));
    expect(
      termsOf(document, operation).map(({ name, kind, label, unset }) => ({ name, kind, label, unset })),
    ).toEqual(terms as never);
  });

  const RECORD = {
    ...{ expires_at: 1_900_000_020, models: ["sandbox-*", "b"], features: ["images"], allow_ips: null },
    ...{ requests_per_minute: 60, concurrency: null, aliases: { "gpt-image-1": "sandbox-image" } },
    ...{ response_format: "url", sync_wait_seconds: 90, quota: { limit: "5.000000", reset: "monthly" } },
    ...{ route_policy: null, named_routes: null, retain_seconds: 2_592_000, moderation: [] },
    price_multiplier: "1.25",
  };

  test("shows a record so that nothing is changed until somebody changes it", () => {
    const terms = termsOf(document, "PATCH /admin/v1/keys/{id}");
    const texts = textsOf(terms, RECORD);
    expect(texts).toMatchObject({
      ...{ models: "sandbox-*, b", sync_wait_seconds: "90s", retain_seconds: "30d", moderation: "none" },
      ...{ aliases: "gpt-image-1=sandbox-image", quota: "5.00", "quota.reset": "monthly", allow_ips: "" },
    });
    expect(changedTerms(terms, texts, texts)).toEqual({ body: {}, problems: {} });
    const { body } = changedTerms(terms, textsOf(terms, {}), texts);
    expect(body).toEqual({
      ...Object.fromEntries(Object.entries(RECORD).filter(([, value]) => value !== null)),
      quota: { limit: "5.00", reset: "monthly" },
    });
  });

  test("lifts a limit that is emptied, and says what it cannot read", () => {
    const terms = termsOf(document, "PATCH /admin/v1/keys/{id}");
    const before = textsOf(terms, RECORD);
    const emptied = { ...before, models: " ", quota: "", features: "", expires_at: "" };
    expect(changedTerms(terms, before, emptied).body).toEqual({
      ...{ models: null, quota: null, features: null, expires_at: null },
    });
    const wrong = { concurrency: "two", retain_seconds: "a month", aliases: "a=b\nc", expires_at: "soon" };
    expect(Object.keys(changedTerms(terms, before, { ...before, ...wrong }).problems).sort()).toEqual(
      Object.keys(wrong).sort(),
    );
  });

  test("writes a time in the largest unit that leaves nothing over", () => {
    expect([1, 90, 3_600, 86_400, 90_000].map(spanText)).toEqual(["1s", "90s", "1h", "1d", "25h"]);
  });
});

test("a list of keys leaves revoked ones out until they are asked for, and finds names and ids", () => {
  const key = (name: string, status: string) => ({
    key: { ...{ id: `key_${name}`, name, status, display: "sk" } } as never,
    account: { id: "acc_1", name: "studio" },
  });
  const keys = [key("web", "active"), key("Shop", "expired"), key("gone", "revoked")];
  const names = (filters: object) =>
    fitting(keys, { state: "", find: "", ...filters }).map(({ key: { name } }) => name);
  expect(names({})).toEqual(["web", "Shop"]);
  expect(names({ state: "all" })).toHaveLength(3);
  expect(names({ find: "shop" })).toEqual(["Shop"]);
  expect(names({ state: "revoked" })).toEqual(["gone"]);
  const open = {
    requests_per_minute: null,
    concurrency: null,
    models: null,
    features: null,
    allow_ips: null,
  };
  expect(limitsText(open as never)).toBeUndefined();
  expect(limitsText({ ...open, concurrency: 2, models: ["a"] } as never)).toBe("2 at once · a");
});

describe("a snippet", () => {
  const PNG = [0x89, 0x50, 0x4e, 0x47];
  const textOf = (id: string) => {
    const given = { origin: service.url, key: service.key, model: "sandbox-image" };
    return SNIPPETS.find((snippet) => snippet.id === id)?.text(given) ?? "";
  };

  test.concurrent.each([
    ["openai-js", "js"],
    ["ai-sdk", "js"],
    ["genai", "js"],
    ["openai-python", "py"],
  ] as const)("of %s makes a picture", async (id, language) => {
    // Python is not everywhere.
    if (language === "py" && Bun.which("python3") === null) return;
    const made = await runSnippet(language, textOf(id));
    expect([...made.slice(0, 4)] as unknown).toEqual(PNG);
  });

  test.concurrent("of curl answers the picture's address", async () => {
    const { data } = JSON.parse(String(await runSnippet("sh", textOf("curl"))));
    expect((await fetch(data[0].url)).headers.get("content-type")).toBe("image/png");
  });

  test.concurrent("of Open WebUI leads what it sends to a picture", async () => {
    const settings = settingsOf(textOf("open-webui"));
    expect(settings).toMatchObject({ ENABLE_IMAGE_GENERATION: "true", IMAGE_GENERATION_ENGINE: "openai" });
    const response = await fetch(`${settings.IMAGES_OPENAI_API_BASE_URL}/images/generations`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${settings.IMAGES_OPENAI_API_KEY}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({
        ...{ model: settings.IMAGE_GENERATION_MODEL, prompt: "a fox", n: 1 },
        ...{ size: "512x512", response_format: "b64_json" },
      }),
    });
    expect([response.status, typeof (await response.json()).data[0].b64_json]).toEqual([200, "string"]);
  });

  test.concurrent("of LibreChat leads what it sends to a picture", async () => {
    const settings = settingsOf(textOf("librechat"));
    // It cuts the address behind its first /v1.
    const baseURL = /^.*?\/v1/.exec(settings.IMAGE_GEN_OAI_BASEURL ?? "")?.[0] ?? "";
    const client = new OpenAI({ baseURL, apiKey: settings.IMAGE_GEN_OAI_API_KEY ?? "", maxRetries: 0 });
    const { data } = await client.images.generate({
      ...{ model: settings.IMAGE_GEN_OAI_MODEL ?? "", prompt: "a fox", n: 1, background: "auto" },
      ...{ output_format: "png", quality: "auto", size: "auto" },
    });
    expect(typeof data?.[0]?.b64_json).toBe("string");
  });

  test.concurrent("of n8n passes its test of the credential, and leads what it sends to a picture", async () => {
    const settings = settingsOf(textOf("n8n"));
    const headers = {
      Authorization: `Bearer ${settings["API Key"]}`,
      "OpenAI-Organization": "",
      "Content-Type": "application/json",
    };
    const models = await (await fetch(`${settings["Base URL"]}/models`, { headers })).json();
    const model = settings.Model?.replace("By ID, ", "");
    expect(models.data.map(({ id }: { id: string }) => id)).toContain(model);
    const body = JSON.stringify({ prompt: "a fox", model, response_format: "b64_json" });
    const made = await fetch(`${settings["Base URL"]}/images/generations`, { method: "POST", headers, body });
    expect(typeof (await made.json()).data[0].b64_json).toBe("string");
  });
});

/** The browser's way back, until the page has heard of it. */
const BACK = `new Promise((resolve) => {
  addEventListener("popstate", () => setTimeout(resolve), { once: true });
  history.back();
})`;

describe.skipIf(CHROMIUM === undefined)("keys in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  const HOSTILE = `<img src=x onerror="alert(1)"> \u202Etxt`;
  const secretIn = async (page: Page) =>
    (await page.getByRole("dialog").getByLabel("The key", { exact: true }).textContent())?.trim() ?? "";
  const statusWith = async (key: string) =>
    (await fetch(`${service.url}/v1/account/status`, { headers: { Authorization: `Bearer ${key}` } })).status;
  /** Browsers note every answer that is an error; these are what the test asked for. */
  const isDone = (at: Visit) =>
    expect(at.problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);

  test("are rotated in a dialog that waits for the secret, and says what to look at where no answer came", async () => {
    const { id } = await service.ask("POST", "/admin/v1/keys", { name: "waits" });
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`keys/${id}`);
    const answered = Promise.withResolvers<void>();
    await page.route("**/rotate", (route) => answered.promise.then(() => route.continue()), { times: 1 });
    await page.getByRole("button", { name: "Rotate" }).click();
    const rotate = page.getByRole("button", { name: "Make another secret" });
    await rotate.click();
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Leave it as it is" }).click({ force: true });
    answered.resolve();
    await page.getByRole("button", { name: "I have kept it" }).waitFor();
    expect(await statusWith(await secretIn(page))).toBe(200);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.route("**/rotate", (route) => route.abort(), { times: 1 });
    await page.getByRole("button", { name: "Rotate" }).click();
    await rotate.click();
    await page.getByRole("alert").getByText("No answer came").waitFor();
    expect(await at.violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    isDone(at);
  });

  test("are made, limited, rotated and revoked, and a secret is shown once", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("keys");
    await page.getByRole("link", { name: "Create key" }).click();
    const create = page.getByRole("button", { name: "Create key" });
    await create.click();
    await seen(page.getByText("Give the key a name")).waitFor();
    await page.getByLabel("Name", { exact: true }).fill(HOSTILE);
    await page.getByLabel("Quota", { exact: true }).fill("much");
    await page.getByLabel("Tasks at once").fill("2");
    await create.click();
    await seen(page.locator("p.text-bad", { hasText: "quota" })).waitFor();
    await page
      .locator("input:focus")
      .and(page.getByLabel("Quota", { exact: true }))
      .waitFor();
    expect(await at.violations()).toEqual([]);
    await page.reload();
    await until(() => page.getByLabel("Name", { exact: true }).inputValue(), HOSTILE);
    await page.getByLabel("Quota", { exact: true }).fill("5.00");
    await create.click();
    const first = await secretIn(page);
    expect(await statusWith(first)).toBe(200);
    await page.getByRole("dialog").getByLabel("Use it with").selectOption("librechat");
    await page.getByRole("dialog").getByText(`IMAGE_GEN_OAI_API_KEY=${first}`).waitFor();
    expect(await at.violations()).toEqual([]);
    for (let times = 0; times < 4; times += 1) await page.keyboard.press("Escape");
    await page.evaluate(BACK);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("heading", { name: "What it may do" }).waitFor();
    const kept = () => page.evaluate<string>("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])");
    expect(await kept()).not.toContain(first);
    await until(async () => (await kept()).includes("5.00"), false);

    await page.getByLabel("Creates a minute").fill("30");
    await page.getByLabel("Quota", { exact: true }).fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const id = page.url().split("/").at(-1);
    expect(await service.ask("GET", `/admin/v1/keys/${id}`)).toMatchObject({
      ...{ name: HOSTILE, requests_per_minute: 30, concurrency: 2, quota: null },
    });

    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByLabel("The present secret is still taken").selectOption("0");
    await page.getByRole("button", { name: "Make another secret" }).click();
    const second = await secretIn(page);
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke it for good" }).click();
    await page.getByText("It is revoked for good").waitFor();
    expect(await statusWith(second)).toBe(401);
    isDone(at);
  });

  test("have nobody's change replaced unseen, where two operators change one at once", async () => {
    const { id } = await service.ask("POST", "/admin/v1/keys", { name: "shared", models: ["a", "b"] });
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open(`keys/${id}`);
    const termsNow = async () => {
      const { models, concurrency } = await service.ask("GET", `/admin/v1/keys/${id}`);
      return { models, concurrency };
    };
    await page.getByLabel("Models", { exact: true }).fill("a, b, mine");
    await service.ask("PATCH", `/admin/v1/keys/${id}`, { models: ["a", "b", "theirs"], concurrency: 3 });
    const save = page.getByRole("button", { name: "Save" });
    await save.click();
    await seen(page.getByText("Somebody else has changed this meanwhile, to a, b, theirs.")).waitFor();
    expect(await page.getByLabel("Tasks at once").inputValue()).toBe("3");
    expect(await termsNow()).toEqual({ models: ["a", "b", "theirs"], concurrency: 3 });
    await page.getByLabel("Models", { exact: true }).fill("a, b, mine, theirs");
    await save.click();
    await page.getByText("Saved.").waitFor();
    expect(await termsNow()).toEqual({ models: ["a", "b", "mine", "theirs"], concurrency: 3 });
    isDone(at);
  });

  test("keep what was typed when the session ends in the middle of it", async () => {
    const { id, token } = await service.ask("POST", "/admin/v1/tokens", { name: "brief" });
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    await at.signIn(String(token));
    await at.open("keys/new");
    await at.page.getByLabel("Name", { exact: true }).fill("after all");
    await at.page.route(
      "**/admin/v1/keys",
      async (route) => {
        const { sessions } = await service.ask("GET", "/admin/v1/sessions");
        const all = sessions as { id: string; holder: { id: string } }[];
        const own = all.find(({ holder }) => holder.id === id);
        await service.ask("POST", `/admin/v1/sessions/${own?.id}/end`);
        await route.continue();
      },
      { times: 1 },
    );
    await at.page.getByRole("button", { name: "Create key" }).click();
    const again = at.page.getByRole("dialog");
    await again.getByLabel("API key or management token").fill(String(token));
    await again.getByRole("button", { name: "Sign in" }).click();
    await at.page.getByText("Key after all is made").waitFor();
  });

  test("have accounts, which are made, changed, suspended and activated", async () => {
    await using at = await visit(browser, service.url, { width: 390, theme: "dark" });
    const { page } = at;
    await at.signIn(service.token);
    await at.open("accounts/new");
    await page.getByLabel("Name").fill("agency");
    await page.getByLabel("First credit, USD").fill("2.50");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("It has no keys").waitFor();
    await page.getByLabel("Low balance").fill("1.00");
    await page.getByLabel("Tasks kept").fill("90d");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await service.ask("GET", "/admin/v1/accounts/agency")).toMatchObject({
      ...{ balance: "2.500000", low_balance: "1.000000", retain_tasks_seconds: 90 * 86_400 },
    });
    for (const [ask, action, state] of [
      ["Suspend", "Suspend it", "suspended"],
      ["Activate", "Activate it", "active"],
    ] as const) {
      await page.getByRole("button", { name: ask }).click();
      await page.getByRole("button", { name: action }).click();
      await page.locator("dd", { hasText: state }).waitFor();
    }
    await page.getByRole("link", { name: "Create a key for it" }).click();
    await page
      .getByLabel("Account")
      .locator("option:checked", { hasText: "agency" })
      .waitFor({ state: "attached" });
    await at.open("accounts/none");
    await page.getByRole("alert").getByText("Request").waitFor();
    isDone(at);
  });

  test.each([
    ["accounts", "Accounts", "Name or id"],
    ["keys", "API keys, newest first", "Name or first characters"],
  ] as const)(
    "have lists of %s by pages, the newest first, in which the oldest are found",
    async (list, label, field) => {
      await using at = await visit(browser, service.url);
      const { page } = at;
      await at.signIn(service.token);
      const asked = await havePages(page, list, 2_500);
      await at.open(list);
      const names = page.getByRole("table", { name: label }).locator("[data-row]");
      await until(() => names.count(), 100);
      expect(await names.first().textContent()).toBe("number 2499");
      expect(asked()).toEqual([null]);
      await page.getByRole("button", { name: "Show more" }).click();
      await until(() => names.count(), 200);
      await page.getByRole("button", { name: "Show more" }).click();
      await until(() => names.count(), 300);
      expect(asked()).toHaveLength(2);
      await page.getByLabel(field).fill("NUMBER 7");
      await until(() => names.count(), 111);
      expect(asked()).toHaveLength(4);
      await page.waitForURL((url) => url.searchParams.get("find") === "NUMBER 7");
      await page.getByLabel(field).fill("nobody");
      await page.getByRole("button", { name: `Show all ${list}` }).click();
      await until(() => names.count(), 300);
      await page.getByRole("button", { name: "Show more: 2200 are left" }).waitFor();
      isDone(at);
    },
  );

  test("are made for one of very many accounts by its name", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await answer(page, "accounts", ({ accounts: [one] }: { accounts: object[] }) => ({
      accounts: [one, ...Array.from({ length: 600 }, (_, i) => ({ ...one, id: `acc_${i}`, name: `c${i}` }))],
    }));
    await at.open("keys");
    await page.getByLabel("Account").fill("c599");
    await page.getByLabel("Account").press("Enter");
    await page.getByText("No key is like that").waitFor();
    expect(await page.locator("main option").count()).toBeLessThan(10);
    await service.ask("POST", "/admin/v1/accounts", { name: "one of many" });
    await at.open("keys/new");
    await until(() => page.getByLabel("Account").inputValue(), "default");
    await page.getByLabel("Name").fill("for one of many");
    await page.getByLabel("Account").fill("one of many");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("link", { name: "one of many", exact: true }).waitFor();
    isDone(at);
  });

  test("have tokens and sessions beside them, which are made and ended", async () => {
    await using at = await visit(browser, service.url);
    const { page } = at;
    await at.signIn(service.token);
    await at.open("tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByLabel("Name").fill("clerk");
    await page.getByLabel("money").check();
    await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
    const secret = (await page.getByLabel("The token", { exact: true }).textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "I have kept it" }).click();
    expect(await service.ask("GET", "/admin/v1/token", undefined, secret)).toMatchObject({
      scopes: ["read", "money"],
    });
    await using other = await visit(browser, service.url);
    await other.signIn(secret);
    await page.reload();
    await page.getByRole("button", { name: "End the session of clerk" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByRole("button", { name: "End the session of clerk" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Revoke clerk" }).click();
    await page.getByRole("button", { name: "Revoke it for good" }).click();
    await page.locator("td", { hasText: "clerk" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Make a link that works once" }).click();
    await page.getByLabel("The link", { exact: true }).getByText("#link=").waitFor();
    expect(await at.violations()).toEqual([]);
    isDone(at);
  });

  test("are their own business: a tenant sees its account and key, and no other's", async () => {
    await using at = await visit(browser, service.url, { theme: "dark" });
    await at.signIn(service.key);
    await at.open("account");
    await at.page.getByText("This key: default").waitFor();
    await at.page.getByLabel("Use it with").selectOption("openai-js");
    await at.page.getByText("apiKey: process.env.SVC_API_KEY").waitFor();
    for (const screen of ["keys/new"]) {
      await at.open(screen);
      await at.page.getByText("There is nothing here").waitFor();
    }
    isDone(at);
  });

  test("are read alone by a token that may only read", async () => {
    const { token } = await service.ask("POST", "/admin/v1/tokens", { name: "reader", scopes: ["read"] });
    await using at = await visit(browser, service.url);
    await at.signIn(String(token));
    for (const screen of ["keys", "tokens"]) {
      await at.open(screen);
      const actions = at.page.locator("main button, main a").filter({ hasText: /^(?:Create|Revoke|End)/ });
      expect([screen, await actions.allTextContents()]).toEqual([screen, []]);
    }
    isDone(at);
  });
});
