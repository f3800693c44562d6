/*
 * Writes the film of a first minute that docs/console.md shows: `bun run console:film`. The browser's own screencast has a frame for each
 * change of the page; they become one animated WebP.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { openBrowser } from "./browser.ts";
import { play, startForTheFirstTime } from "./film.ts";

const FILE = join(import.meta.dir, "../../../docs/images/console/first-minute.webp");
const SIZE = { width: 1120, height: 720 };
const SHOWN_WIDTH = 1000;
/** Between two frames at least, in ms; what changes faster, such as letters, is seen as well at this pace. */
const STEP_MS = 200;
/** How long the last frame stays. */
const END_MS = 8_000;

interface Frame {
  readonly jpeg: Buffer;
  readonly atMs: number;
}

/** Keeps what the page shows while `work` runs. */
async function record(page: Page, work: () => Promise<void>): Promise<Frame[]> {
  const frames: Frame[] = [];
  const devtools = await page.context().newCDPSession(page);
  devtools.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    frames.push({ jpeg: Buffer.from(data, "base64"), atMs: (metadata.timestamp ?? 0) * 1000 });
    void devtools.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
  });
  await devtools.send("Page.startScreencast", { format: "jpeg", quality: 92, everyNthFrame: 1 });
  await work();
  await devtools.send("Page.stopScreencast");
  return frames;
}

/** The last frame of each step, with how long it is shown. */
function paced(frames: readonly Frame[]): { readonly jpeg: Buffer; readonly delayMs: number }[] {
  const kept = frames.filter(({ atMs }, i) => {
    const next = frames[i + 1];
    return next === undefined || Math.floor(next.atMs / STEP_MS) > Math.floor(atMs / STEP_MS);
  });
  return kept.map(({ jpeg, atMs }, i) => ({
    jpeg,
    delayMs: Math.max(STEP_MS / 2, Math.round((kept[i + 1]?.atMs ?? atMs + END_MS) - atMs)),
  }));
}

const browser = await openBrowser();
try {
  await using start = await startForTheFirstTime();
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light", reducedMotion: "reduce" });
  const rest = (seconds: number) => Bun.sleep(seconds * 1000);
  const type = (label: string, text: string) =>
    page.getByLabel(label, { exact: true }).pressSequentially(text, { delay: text.length > 30 ? 15 : 70 });
  const frames = paced(await record(page, () => play(page, start, { rest, type })));
  const pictures = await Promise.all(
    frames.map(({ jpeg }) => sharp(jpeg).resize({ width: SHOWN_WIDTH }).png().toBuffer()),
  );
  const film = sharp(pictures, { join: { animated: true } });
  const { size } = await film
    .webp({ quality: 80, effort: 5, minSize: true, loop: 0, delay: frames.map(({ delayMs }) => delayMs) })
    .toFile(FILE);
  const seconds = frames.reduce((sum, { delayMs }) => sum + delayMs, 0) / 1000;
  process.stdout.write(
    `${FILE}: ${frames.length} frames, ${seconds.toFixed(0)} s, ${(size / 1e6).toFixed(1)} MB\n`,
  );
} finally {
  await browser.close();
}
process.exit(0);
