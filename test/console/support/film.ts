import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { inTerminal, type TerminalProcess } from "../../e2e/support/terminal.ts";

/** What the first start of a service prints on a terminal, and what can be done with it. */
export interface FirstStart {
  readonly url: string;
  readonly key: string;
  /** To the console: it works once. */
  readonly link: string;
  /** The lines that a person sees. */
  readonly lines: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the executable on a terminal in an empty folder. */
export async function startForTheFirstTime(): Promise<FirstStart> {
  const folder = mkdtempSync(join(tmpdir(), "svc-film-"));
  const size = { columns: 118, rows: 34 };
  const terminal = inTerminal(["serve", "--port", "0"], folder, {}, size);
  await terminal.shows(/#link=\w+[\s\S]*(?:Ready|ready)/);
  const text = terminal.screen();
  const [key = "", link = ""] = [/sk-svc-\w+/, /http:\S+#link=\w+/].map(
    (pattern) => pattern.exec(text)?.[0] ?? "",
  );
  return {
    ...{ url: new URL(link).origin, key, link, lines: terminal.frame() },
    async [Symbol.asyncDispose]() {
      await end(terminal);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(terminal: TerminalProcess): Promise<void> {
  terminal.signal("SIGTERM");
  await terminal.exited;
}

/** How the film is played. */
export interface Playing {
  /** Lets the viewer look, for so many seconds. */
  readonly rest: (seconds: number) => Promise<void>;
  /** Types as a person does, or at once. */
  readonly type: (label: string, text: string) => Promise<void>;
}

/** A first start, a first picture, a failed task explained, a key made, and what was spent: each scene waits for what it shows. */
export async function play(page: Page, start: FirstStart, { rest, type }: Playing): Promise<void> {
  await page.setContent(terminalPage(start.lines));
  await rest(7);
  await page.goto(`${start.url}/console`);
  await rest(1);
  await type("API key or management token", start.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("prompt (needed)").waitFor();
  await rest(2);
  await type("prompt (needed)", "a lighthouse at dusk");
  await page.getByText("$0.01", { exact: true }).waitFor();
  await rest(1);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("link", { name: "Download result 1" }).waitFor();
  await rest(5);
  await fail(page, { rest, type });
  await page.goto("about:blank");
  await page.goto(start.link);
  await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
  await rest(3);
  await makeKey(page, { rest, type });
  await page.getByRole("link", { name: "Money", exact: true }).click();
  await page.getByRole("heading", { name: "Money", exact: true }).waitFor();
  await page.locator("main canvas").first().waitFor();
  await rest(8);
}

async function fail(page: Page, { rest }: Playing): Promise<void> {
  await page.getByText("Rehearse a failure").click();
  await rest(1);
  await page.getByLabel("outcome").selectOption({ label: "moderated" });
  await rest(1);
  await page.getByRole("button", { name: /^Run/ }).click();
  const card = page.getByRole("article").first();
  await card.getByText("Change the prompt or the inputs, and create a new task.").waitFor();
  await card.scrollIntoViewIfNeeded();
  await rest(7);
}

async function makeKey(page: Page, { rest, type }: Playing): Promise<void> {
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  await rest(2);
  await page
    .getByRole("link", { name: "Create key" })
    .or(page.getByRole("button", { name: "Create key" }))
    .first()
    .click();
  await page.getByLabel("Name", { exact: true }).waitFor();
  await rest(1);
  await type("Name", "shop");
  await rest(1);
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("The key", { exact: true }).waitFor();
  await rest(4);
  await dialog.getByLabel("Use it with").selectOption("openai-js");
  await rest(4);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("heading", { name: "What it may do" }).waitFor();
  await rest(2);
}

/** A terminal as a page: its text alone. */
function terminalPage(lines: readonly string[]): string {
  const text = Bun.escapeHTML(["$ svc serve", ...lines].join("\n"));
  return `<!doctype html><title>svc serve</title><body style="margin:0;background:#14161c"><pre style="margin:24px;color:#dfe3ea;font:14px/1.45 'DejaVu Sans Mono',monospace">${text}</pre>`;
}
