import { expect } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { WAIT_MS } from "./until.ts";

/** The same browser without windows. All tests of the console take half as long with it (275 s in place of 533). */
const SHELL = "/usr/bin/chromium-headless-shell";
/** Debian's browser, or none. */
export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", SHELL].find(existsSync);

/** Widths that every screen is looked at in: a telephone and a desk. */
export const WIDTHS = [390, 1440] as const;
export const THEMES = ["light", "dark"] as const;

export interface View {
  readonly width?: (typeof WIDTHS)[number];
  readonly theme?: (typeof THEMES)[number];
  /** The reader's language and country. */
  readonly locale?: string;
}

/** A page of a browser that has nothing from earlier pages, and what went wrong in it. */
export interface Visit {
  readonly page: Page;
  /** Errors of its console, exceptions, and requests that left the service. */
  readonly problems: readonly string[];
  /** Comes in as whoever the credential belongs to: by the form where that is shown, else at once, so that `open` shows a screen. */
  signIn(credential: string): Promise<void>;
  /** Goes to a screen, such as `tasks?status=failed`, and waits until it is read. */
  open(screen: string): Promise<void>;
  /** What axe finds against WCAG 2.2 AA. */
  violations(): Promise<string[]>;
  /** Words of tables that are cut off at the side of their cells. */
  cutWords(): Promise<string[]>;
  /** How far the page is wider than the window, in pixels. */
  overflow(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

let shared: Promise<Browser> | undefined;

/** The browser of all files that this process runs: each visit is apart from the others. It ends with the process. */
export function openBrowser(): Promise<Browser> {
  shared ??= launchBrowser(existsSync(SHELL) ? SHELL : CHROMIUM);
  return shared;
}

/** One that its caller closes. */
export function launchBrowser(path = CHROMIUM): Promise<Browser> {
  return chromium.launch({
    ...(path === undefined ? {} : { executablePath: path }),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/** @param url of the service */
export async function visit(
  browser: Browser,
  url: string,
  { width = 1440, theme = "light", locale = "en-US" }: View = {},
): Promise<Visit> {
  const options: BrowserContextOptions = {
    viewport: { width, height: width === 390 ? 844 : 900 },
    ...{ colorScheme: theme, reducedMotion: "reduce", locale, timezoneId: "UTC" },
  };
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(`${url}/`) && !/^(?:data|blob):/.test(asked)) problems.push(`asks ${asked}`);
  });
  return {
    page,
    problems,
    async signIn(credential) {
      if (!page.url().startsWith(url)) return exchange(context, url, credential);
      await page.getByLabel("API key or management token").fill(credential);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.locator("nav").waitFor({ state: "attached" });
    },
    async open(screen) {
      await page.goto(`${url}/console/${screen}`);
      await page.locator("main h1").waitFor();
      await page.locator("main :text('Reading ')").first().waitFor({ state: "detached" });
    },
    async violations() {
      await page.evaluate(axe.source);
      const twice = await page.evaluate<string[]>(MARK_ALIKE);
      const found = (await page.evaluate(RUN_AXE)) as {
        id: string;
        nodes: { html: string; failureSummary: string }[];
      }[];
      const violations = found.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
      return [...violations, ...twice.map((id) => `the id ${id} is there twice`)];
    },
    cutWords: () =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('main td, main td > div')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ textContent }) => textContent)",
      ),
    overflow: () =>
      page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    async [Symbol.asyncDispose]() {
      // An answer that a test still waits to change when it ends concerns nobody.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    },
  };
}

async function exchange(context: BrowserContext, url: string, credential: string): Promise<void> {
  const sent = { data: { credential }, headers: { Origin: url } };
  const answer = await context.request.post(`${url}/console/session`, sent);
  expect([answer.status(), await answer.text()]).toEqual([200, expect.anything()]);
}

/**
 * Marks rows and entries that are like two before them in all but their words, so that axe looks at long lists once. Answers with ids
 * that are there twice, which it could not find then.
 */
const MARK_ALIKE = `{
  const seen = new Map();
  for (const row of document.querySelectorAll("main tr, main li")) {
    const look = row.outerHTML.replace(/>[^<]+</g, "> <").replace(/ (?!class=)([a-z-]+)="[^"]+"/g, " $1");
    seen.set(look, (seen.get(look) ?? 0) + 1);
    row.toggleAttribute("data-alike", seen.get(look) > 2);
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  ids.filter((id, place) => ids.indexOf(id) !== place);
}`;

const RUN_AXE = `axe.run({ exclude: [["[data-alike]"]] }, { preload: false, resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) => violations)`;

/** Keeps a picture of the page where `SVC_SCREENSHOTS` says; nowhere without it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SVC_SCREENSHOTS;
  if (folder === undefined || folder === "") return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
