/*
 * Writes the pictures of screens that docs/console.md shows, from a service that has something to show: `bun run console:pictures`.
 * A screen that both roles have is shown to an operator.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { SCREENS } from "../../../console/shell/screens.ts";
import { openBrowser, visit } from "./browser.ts";
import { type ConsoleService, startConsole } from "./service.ts";

const FOLDER = join(import.meta.dir, "../../../docs/images/console");
/** Screens that follow a stream are never quiet. */
const QUIET_WITHIN_MS = 3_000;
const PROMPTS = [
  ...[
    "a lighthouse at dusk",
    "a harbour in the morning fog",
    "paper boats on a river",
    "a desert road at noon",
  ],
  ...["a greenhouse in the rain", "mountains above the clouds", "a night train", "a garden of glass"],
];

/** Tasks of every kind of end, for an account with a name and a key of its own, and a group. @returns the group, and a task that completed */
async function fill({ ask, make, key }: ConsoleService): Promise<{ task: string; group: string }> {
  await ask("POST", "/admin/v1/accounts", { name: "studio", mode: "prepaid", credit: "25.00" });
  await ask("POST", "/admin/v1/keys", { name: "web", account: "studio", requests_per_minute: 60 });
  await make({ prompt: "a castle of cards", size: "512x512", sandbox: { delay_ms: 0, outcome: "failed" } });
  const made = [];
  for (const prompt of PROMPTS)
    made.push(await make({ prompt, size: "512x512", sandbox: { delay_ms: 200 } }));
  await make({ prompt: "a slow river", sandbox: { outcome: "hang" } });
  const asked = {
    ...{ prompt: "a harbour in the morning fog", models: ["sandbox-image"], policy: "cheapest" },
    ...{ grid: { size: ["512x512", "768x512"], seed: [3, 8] }, parameters: { sandbox: { delay_ms: 0 } } },
  };
  const group = await ask("POST", "/v1/groups", asked, key);
  for (const id of group.task_ids as string[])
    await ask("GET", `/v1/images/status/${id}?wait=30`, undefined, key);
  return { task: made.at(-1) ?? "", group: String(group.group_id) };
}

const document = await Bun.file(join(FOLDER, "../../console.md")).text();
mkdirSync(FOLDER, { recursive: true });
const [service, browser] = await Promise.all([startConsole(), openBrowser()]);
try {
  const { task, group } = await fill(service);
  for (const role of ["operator", "tenant"] as const) {
    await using at = await visit(browser, service.url, { width: 1440 });
    await at.signIn(role === "operator" ? service.token : service.key);
    const shown = SCREENS.filter(
      ({ roles }) => roles.includes(role) && (role === "operator" || roles.length === 1),
    );
    const addresses = shown.map(({ name }) => [name, name] as const);
    addresses.push(role === "operator" ? ["task", `tasks/${task}`] : ["group", `groups/${group}`]);
    for (const [name, address] of addresses) {
      if (!document.includes(`images/console/${name}.webp`)) continue;
      await at.open(address);
      await at.page.waitForLoadState("networkidle", { timeout: QUIET_WITHIN_MS }).catch(() => undefined);
      const bytes = await at.page.screenshot();
      await sharp(bytes)
        .webp({ quality: 82 })
        .toFile(join(FOLDER, `${name}.webp`));
    }
  }
} finally {
  await browser.close();
  await service.stop();
}
process.exit(0);
