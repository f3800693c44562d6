import { expect, test } from "bun:test";
import { join } from "node:path";
import sharp from "sharp";
import { createRenderer } from "../../src/studio/render.ts";
import type { PictureJob, VideoJob } from "../../src/studio/render-job.ts";
import { drawSwatch } from "../../src/studio/swatch.ts";

const never = new AbortController().signal;
const workerEntry = join(import.meta.dir, "workers/broken.ts");
const root = join(import.meta.dir, "../..");

/** Just too large to be drawn without a thread. */
function picture(prompt: string): PictureJob {
  return { kind: "picture", prompt, seed: 1, index: 0, width: 17, height: 17, format: "png", label: "" };
}

const longVideo: VideoJob = {
  kind: "video",
  mode: "text",
  prompt: "wind",
  seed: 1,
  durationSec: 10,
  width: 640,
  height: 360,
  images: [],
  label: "",
};

test.each(["die", "throw"])(
  "a worker lost to “%s” fails its job and the next job gets a new one",
  async (prompt) => {
    const renderer = createRenderer({ workers: 1, workerEntry });
    try {
      const first = renderer.render(picture("fine"), never);
      const lost = renderer.render(picture(prompt), never);
      const after = renderer.render(picture("fine"), never);
      await expect(lost).rejects.toThrow("worker broke");
      expect([...(await first).bytes, ...(await after).bytes]).toEqual([1, 1]);
    } finally {
      await renderer.stop();
    }
  },
);

test("large pictures are drawn one at a time, and small ones do not wait for them", async () => {
  const renderer = createRenderer({ workers: 2, workerEntry, stopGraceMs: 20 });
  const large = (prompt: string) => ({ ...picture(prompt), width: 4096, height: 4096 });
  const ended: string[] = [];
  const render = (name: string, job: PictureJob) =>
    renderer.render(job, never).then(
      () => ended.push(name),
      () => undefined,
    );
  void render("first", large("hang"));
  void render("second", large("fine"));
  await render("small", picture("fine"));
  expect(ended).toEqual(["small"]);
  await renderer.stop();
});

test("an invalid job leaves the worker in service", async () => {
  const renderer = createRenderer({ workers: 1 });
  try {
    const bad = renderer.render({ ...longVideo, mode: "image" }, never);
    await expect(bad).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect((await renderer.render(picture("after"), never)).width).toBe(17);
  } finally {
    await renderer.stop();
  }
});

test("an aborted job is rejected at once with the signal's reason, waiting or running", async () => {
  const renderer = createRenderer({ workers: 1 });
  try {
    await renderer.render(picture("warm"), never);
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = renderer.render(longVideo, running.signal);
    const second = renderer.render(longVideo, waiting.signal);
    await Bun.sleep(150);
    waiting.abort(new Error("not wanted"));
    await expect(second).rejects.toThrow("not wanted");
    running.abort(new Error("no longer wanted"));
    await expect(first).rejects.toThrow("no longer wanted");
    await Promise.allSettled([first, second]);
    // The worker gives the video up as well: the next job need not wait for it to be finished.
    expect((await renderer.render(picture("next"), never)).width).toBe(17);
  } finally {
    await renderer.stop();
  }
});

test.each(["hang", "loop"])("a worker that goes on with a cancelled job (%s) is replaced", async (prompt) => {
  const renderer = createRenderer({ workers: 1, workerEntry, abandonedMs: 50 });
  try {
    await renderer.render(picture("fine"), never);
    const cancelling = new AbortController();
    const lost = renderer.render(picture(prompt), cancelling.signal);
    const after = renderer.render(picture("fine"), never);
    cancelling.abort(new Error("not wanted"));
    await expect(lost).rejects.toThrow("not wanted");
    expect([...(await after).bytes]).toEqual([1]);
  } finally {
    await renderer.stop();
  }
});

test("a PNG of a few pixels needs no thread, and has the pixels that a JPEG of it is made from", async () => {
  const renderer = createRenderer({ workers: 1, workerEntry: "/nowhere/missing.ts" });
  for (const [width, height] of [
    [1, 1],
    [3, 16],
    [16, 16],
  ] as const) {
    const job = { ...picture("a lake"), width, height };
    const rendered = await renderer.render(job, never);
    expect(rendered).toMatchObject({ contentType: "image/png", width, height });
    const { data, info } = await sharp(rendered.bytes).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([width, height, 3]);
    expect(new Uint8Array(data)).toEqual(drawSwatch(job));
  }
  await renderer.stop();
});

test("a signal that is aborted already starts nothing", async () => {
  const renderer = createRenderer({ workers: 1, workerEntry: "/nowhere/missing.ts" });
  await expect(renderer.render(picture("x"), AbortSignal.abort(new Error("before")))).rejects.toThrow(
    "before",
  );
  await renderer.stop();
});

test("stopping rejects what runs and what waits, and what comes later", async () => {
  const renderer = createRenderer({ workers: 1, workerEntry, stopGraceMs: 20 });
  const jobs = [renderer.render(picture("hang"), never), renderer.render(picture("fine"), never)];
  const settled = Promise.allSettled(jobs);
  await renderer.stop();
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(renderer.render(picture("fine"), never)).rejects.toThrow("stopped");
});

test("an idle worker is ended after a while and another takes its place", async () => {
  const renderer = createRenderer({ workers: 1, idleMs: 30, workerEntry });
  try {
    // Together, so that the worker is not idle between the two, however slow this machine is.
    const both = [1, 2].map(() => renderer.render(picture("fine"), never));
    const counts = (await Promise.all(both)).flatMap(({ bytes }) => [...bytes]);
    await Bun.sleep(120);
    counts.push(...(await renderer.render(picture("fine"), never)).bytes);
    expect(counts).toEqual([1, 2, 1]);
  } finally {
    await renderer.stop();
  }
});

test("a process ends by itself while workers are idle", async () => {
  const script = `
    import sharp from "sharp";
import { createRenderer } from "./src/studio/render.ts";
    const job = ${JSON.stringify(picture("exit"))};
    const { bytes } = await createRenderer().render(job, new AbortController().signal);
    console.log(bytes.length > 40);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const timer = setTimeout(() => child.kill(), 30_000);
  expect([await child.exited, await child.stdout.text()]).toEqual([0, "true\n"]);
  clearTimeout(timer);
});
