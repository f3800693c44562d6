import { expect, test } from "bun:test";
import { CHROMIUM, openBrowser } from "./support/browser.ts";
import { seen, WAIT_MS } from "./support/until.ts";

// The film begins with what the executable prints on a terminal.
test.skipIf(CHROMIUM === undefined || process.env.SVC_BIN === undefined)(
  "the first minute goes from a first start to a picture, an explained failure, a key and what was spent",
  async () => {
    // Loaded late: it looks for the executable.
    const { play, startForTheFirstTime } = await import("./support/film.ts");
    const browser = await openBrowser();
    await using start = await startForTheFirstTime();
    const page = await browser.newPage({ viewport: { width: 1120, height: 720 }, reducedMotion: "reduce" });
    page.setDefaultTimeout(WAIT_MS);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    await play(page, start, {
      rest: async () => undefined,
      type: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    });
    await seen(page.getByText("$0.01")).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  },
);
