import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { SCREENS } from "../../console/shell/screens.ts";
import { CHROMIUM, openBrowser, picture, type View, visit } from "./support/browser.ts";
import { type ConsoleService, startConsole } from "./support/service.ts";
import { MANY_SCREENS_MS } from "./support/until.ts";

/** Each pair of a role, a theme and a width is in one of these. */
const VIEWS: readonly (View & { readonly role: "tenant" | "operator" })[] = [
  { role: "tenant", theme: "light", width: 390 },
  { role: "tenant", theme: "dark", width: 1440 },
  { role: "operator", theme: "light", width: 1440 },
  { role: "operator", theme: "dark", width: 390 },
];

/** What a screen of one thing is shown with, by the screen's name: made once, before the first view. */
const ITEMS: Readonly<Record<string, (service: ConsoleService) => Promise<readonly string[]>>> = {
  tasks: async ({ make }) => [
    await make(),
    await make({ sandbox: { delay_ms: 0, outcome: "failed" } }),
    await make({ sandbox: { outcome: "hang" } }),
  ],
  groups: async ({ ask, key }) => {
    const body = {
      ...{ prompt: "A fox", models: ["sandbox-image"], grid: { size: ["64x64", "96x96"] } },
      ...{ parameters: { sandbox: { delay_ms: 0 } }, policy: "cheapest", deadline_seconds: 600 },
    };
    return [String((await ask("POST", "/v1/groups", body, key)).group_id)];
  },
  callbacks: async ({ ask, make, key }) => {
    const task = await make({ callback_url: `https://hooks.invalid/${"x".repeat(90)}` });
    const { callbacks } = await ask("GET", `/v1/callbacks?task_id=${task}`, undefined, key);
    return [(callbacks as { id: string }[])[0]?.id ?? ""];
  },
  keys: async ({ ask }) => {
    const limits = { quota: { limit: "5.00", reset: "monthly" }, models: ["sandbox-*"], concurrency: 2 };
    return [
      "new",
      String((await ask("POST", "/admin/v1/keys", { name: `<b>${"x".repeat(90)}`, ...limits })).id),
    ];
  },
  accounts: async ({ ask }) => [
    "new",
    String((await ask("POST", "/admin/v1/accounts", { name: "W".repeat(100), credit: "0.50" })).id),
  ],
  providers: async () => ["sandbox", "kling"],
  models: async () => ["~new", "sandbox-image", "gpt-image-2"],
};

describe.skipIf(CHROMIUM === undefined)("every screen", () => {
  let service: ConsoleService;
  let browser: Browser;
  const items = new Map<string, readonly string[]>();
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsole(), openBrowser()]);
    for (const [name, make] of Object.entries(ITEMS)) items.set(name, await make(service));
  });
  afterAll(async () => {
    await service?.stop();
  });

  test.each(VIEWS)(
    "is whole and within reach: $role, $theme, $width",
    async ({ role, ...view }) => {
      await using at = await visit(browser, service.url, view);
      const name = (screen: string) => `${screen}-${role}-${view.theme}-${view.width}`;
      await at.page.goto(`${service.url}/console`);
      await at.page.getByLabel("API key or management token").waitFor();
      expect(["sign-in", await at.violations()]).toEqual(["sign-in", []]);
      await picture(at.page, name("sign-in"));
      await at.signIn(role === "tenant" ? service.key : service.token);
      for (const { name: screen, roles } of SCREENS) {
        if (!roles.includes(role)) continue;
        for (const item of ["", ...(items.get(screen) ?? [])]) {
          await at.open(item === "" ? screen : `${screen}/${item}`);
          await picture(
            at.page,
            name(item === "" ? screen : `${screen}-${items.get(screen)?.indexOf(item)}`),
          );
          expect([screen, item, await at.violations()]).toEqual([screen, item, []]);
          expect([screen, item, (await at.overflow()) > 0]).toEqual([screen, item, false]);
          expect([screen, await at.cutWords()]).toEqual([screen, []]);
        }
      }
      expect(at.problems).toEqual([]);
    },
    MANY_SCREENS_MS,
  );
});

test("every screen of one thing has something to show", () => {
  expect(SCREENS.filter(({ loadItem }) => loadItem !== undefined).map(({ name }) => name)).toEqual(
    Object.keys(ITEMS),
  );
});

test("no two screens have one key, or one name", () => {
  for (const each of ["key", "name"] as const) {
    const all = SCREENS.map((screen) => screen[each]);
    expect(all).toEqual([...new Set(all)]);
  }
});
