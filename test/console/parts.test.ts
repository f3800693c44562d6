import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { basename, join } from "node:path";
import type { Browser } from "playwright-core";
import { buildConsole } from "../../cli/build/console.ts";
import { servePage } from "../../src/http/console/page.ts";
import { CHROMIUM, openBrowser, visit } from "./support/browser.ts";

/** Serves the page of parts under the console's own policy. */
async function servePartsPage() {
  const { pack } = await buildConsole(join(import.meta.dir, "../.."), "test/console/support/parts-page.tsx");
  const page = { files: pack.files, script: String(pack.about.script), style: String(pack.about.style) };
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const file = pack.files.get(basename(new URL(request.url).pathname));
      if (file !== undefined)
        return new Response(file.gzip, {
          headers: { "Content-Type": file.type, "Content-Encoding": "gzip" },
        });
      const { headers, body } = servePage(request, page, { depth: 1, media: [] });
      return new Response(body, { headers });
    },
  });
}

describe.skipIf(CHROMIUM === undefined)("parts", () => {
  let server: Awaited<ReturnType<typeof servePartsPage>>;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([servePartsPage(), openBrowser()]);
  });
  afterAll(async () => {
    await server?.stop(true);
  });

  test("a plot is drawn in the theme's colours, and has a name for those who do not see it", async () => {
    await using at = await visit(browser, `http://127.0.0.1:${server.port}`, { theme: "dark" });
    await at.page.goto(`http://127.0.0.1:${server.port}/console`);
    await at.page.locator("canvas").waitFor();
    expect(await at.page.getByRole("img", { name: "Spend by day" }).count()).toBe(1);
    await at.page.getByText("spent").waitFor();
    expect(await at.violations()).toEqual([]);
    expect(at.problems).toEqual([]);
  });
});
