import { afterEach, describe, expect, test } from "bun:test";
import { readPreview } from "../../../src/domain/task/preview.ts";
import { toSketch } from "../../../src/providers/sandbox/sketches.ts";
import { renderEdit } from "../../../src/studio/edit.ts";
import { renderPicture } from "../../../src/studio/picture.ts";
import type { EditJob, PictureJob } from "../../../src/studio/render-job.ts";
import { operationOf } from "../../contracts/provider.ts";
import { recordPreviews } from "../../helpers/previews.ts";
import { openSandbox, type SandboxHarness, type Submission } from "./harness.ts";

const signal = new AbortController().signal;
const opened: SandboxHarness[] = [];
afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.stop();
});

/** An operation of 3 seconds, two early versions of each output wanted. */
async function begin(given: Submission = {}, sandboxParameter = {}) {
  const sandbox = await openSandbox();
  opened.push(sandbox);
  const previews = recordPreviews(2);
  const parameters = {
    partial_images: 2,
    sandbox: { delay_ms: 3_000, ...sandboxParameter },
    ...given.parameters,
  };
  const submitted = await sandbox.provider.submit(
    { ...sandbox.submission({ ...given, parameters }), previews },
    signal,
  );
  const operation = operationOf(submitted);
  // What was rendered for the outputs themselves.
  await sandbox.advance(0);
  sandbox.renderer.jobs.length = 0;
  const pollAfter = async (ms: number) => {
    await sandbox.advance(ms);
    const answer = await sandbox.provider.poll(operation, signal, previews);
    await sandbox.provider.idle();
    return answer;
  };
  return { sandbox, previews, operation, submitted, pollAfter };
}

const seen = ({ shown }: { shown: { index: number; outputIndex?: number | undefined }[] }) =>
  shown.map(({ index, outputIndex }) => [index, outputIndex]);

describe("early versions", () => {
  test("come evenly over the time of the operation, each once, and are polled for when they are due", async () => {
    const { previews, pollAfter } = await begin();
    const asked: unknown[] = [];
    for (const [ms, index] of [
      [999, undefined],
      [1, 0],
      [500, 0],
      [500, 1],
      [900, 1],
    ] as const) {
      const answer = await pollAfter(ms);
      asked.push(answer.kind === "pending" ? answer.pollAfterMs : answer.kind);
      expect(previews.shown.at(-1)?.index).toBe(index as number);
    }
    expect(seen(previews)).toEqual([
      [0, 0],
      [1, 0],
    ]);
    expect(asked).toEqual([1, 500, 500, 500, 100]);
    expect(await pollAfter(100)).toMatchObject({ kind: "succeeded" });
    expect(previews.shown).toHaveLength(2);
  });

  test("are of each output, and the same whenever they are drawn", async () => {
    const [first, second] = [await begin({ n: 2 }), await begin({ n: 2 })];
    for (const { pollAfter } of [first, second]) await pollAfter(1_000);
    expect(seen(first.previews)).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(second.previews.shown).toEqual(first.previews.shown);
  });

  test("that nobody looks at are not drawn, then or later", async () => {
    const { sandbox, previews, pollAfter } = await begin();
    previews.watched = false;
    await pollAfter(1_000);
    expect(sandbox.renderer.jobs).toEqual([]);
    previews.watched = true;
    await pollAfter(500);
    expect(sandbox.renderer.jobs).toEqual([]);
    await pollAfter(500);
    expect(seen(previews)).toEqual([[1, 0]]);
  });

  test("whose time was missed come late, in their order", async () => {
    const { previews, pollAfter } = await begin();
    await pollAfter(2_500);
    expect(seen(previews)).toEqual([
      [0, 0],
      [1, 0],
    ]);
  });

  test("that are still being drawn hold up the end of the operation", async () => {
    const { sandbox, previews, operation } = await begin();
    const drawn = Promise.withResolvers<void>();
    sandbox.renderer.hold = drawn.promise;
    const poll = () => sandbox.provider.poll(operation, signal, previews);
    await sandbox.advance(3_000);
    expect(await poll()).toMatchObject({ kind: "pending", pollAfterMs: 20 });
    drawn.resolve();
    await sandbox.provider.idle();
    expect(await poll()).toMatchObject({ kind: "succeeded" });
    expect(seen(previews)).toEqual([
      [0, 0],
      [1, 0],
    ]);
  });

  test("come before any end, and of one that never comes", async () => {
    for (const outcome of ["failed", "moderated", "hang"]) {
      const { previews, pollAfter, submitted } = await begin({}, { outcome });
      expect(submitted).toMatchObject({ pollAfterMs: outcome === "hang" ? 1_000 : 500 });
      await pollAfter(1_000);
      const late = await pollAfter(1_000);
      expect(previews.shown).toHaveLength(2);
      if (outcome === "hang") expect(late).toEqual({ kind: "pending", progress: 50 });
    }
  });

  test("are not made for an operation that takes no time, nor for one that asks for none", async () => {
    for (const parameters of [{ sandbox: { delay_ms: 0 } }, { partial_images: 0 }]) {
      const { sandbox, previews, pollAfter } = await begin({ parameters });
      sandbox.renderer.hold = new Promise(() => undefined);
      await pollAfter(100);
      expect(previews.shown).toEqual([]);
    }
  });

  test("that cannot be drawn harm nothing", async () => {
    const { sandbox, previews, pollAfter } = await begin();
    sandbox.renderer.failures.push(new Error("The worker broke."));
    expect(await pollAfter(1_000)).toMatchObject({ kind: "pending" });
    expect(previews.shown).toEqual([]);
    await pollAfter(2_000);
    expect(await pollAfter(0)).toMatchObject({ kind: "succeeded" });
  });

  test("under way at a cancel are not shown", async () => {
    const { sandbox, previews, operation } = await begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    sandbox.renderer.hold = promise;
    await sandbox.advance(1_000);
    await sandbox.provider.poll(operation, signal, previews);
    while (sandbox.renderer.jobs.length === 0) await new Promise((next) => setImmediate(next));
    await sandbox.provider.cancel(operation, signal);
    resolve();
    await sandbox.provider.idle();
    expect(previews.shown).toEqual([]);
  });
});

describe("a sketch", () => {
  const picture: PictureJob = {
    ...({ kind: "picture", prompt: "dunes", seed: 1, index: 0, format: "png" } as const),
    ...{ width: 1536, height: 1024, label: "" },
  };
  const edit: EditJob = { ...picture, kind: "edit", inputs: [], width: undefined, height: undefined };

  test("has the proportions of its picture, and more pixels each time, but never more than it", () => {
    const sides = [0, 1, 2].map((index) => {
      const { width, height } = toSketch(picture, index) ?? {};
      return [width, height];
    });
    expect(sides).toEqual([
      [96, 64],
      [192, 128],
      [384, 256],
    ]);
    expect(toSketch({ ...picture, width: 64, height: 1 }, 2)).toMatchObject({ width: 64, height: 1 });
    expect(toSketch({ ...picture, width: 4096, height: 1 }, 0)).toMatchObject({ width: 96, height: 1 });
  });

  test("is an image that can be passed on, of the format asked for", async () => {
    for (const format of ["png", "jpeg", "webp"] as const) {
      const job = toSketch({ ...picture, format }, 0);
      const { bytes } = await renderPicture(job as PictureJob);
      expect(readPreview({ index: 0, bytes }, { wanted: 1, outputs: 1 })?.type).toBe(`image/${format}`);
    }
  });

  test("of an edit without a size is as small as others, whatever the size of the input", async () => {
    const { bytes: large } = await renderPicture({ ...picture, width: 600, height: 300 });
    const { bytes: small } = await renderPicture({ ...picture, width: 40, height: 20 });
    const sizes = await Promise.all(
      [large, small].map(async (input) => {
        const { width, height } = await renderEdit(toSketch({ ...edit, inputs: [input] }, 0) as EditJob);
        return [width, height];
      }),
    );
    expect(sizes).toEqual([
      [96, 48],
      [40, 20],
    ]);
  });

  test("is not made of a video", () => {
    const video = { ...picture, kind: "video", mode: "text", durationSec: 1, images: [] } as const;
    expect(toSketch({ ...video, images: [] }, 0)).toBeUndefined();
  });
});
