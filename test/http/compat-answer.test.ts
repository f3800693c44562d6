import { expect, test } from "bun:test";
import type { ResponseFormat } from "../../src/domain/access/key-policy.ts";
import type { Asset } from "../../src/domain/media/asset.ts";
import type { AssetStore } from "../../src/domain/ports/asset-store.ts";
import type { TaskStore } from "../../src/domain/ports/task-store.ts";
import type { TaskSummary } from "../../src/domain/task/task.ts";
import { imagesReply } from "../../src/http/compat/answer.ts";
import { rejection } from "../contracts/provider.ts";
import { assetId, taskId } from "../helpers/store.ts";

const LARGE_BYTES = 1024 * 1024;
const ASSET = { id: assetId(1), type: "image/png", width: 1, height: 1 } as Asset;
const TASK = {
  ...{ id: taskId(1), results: [{ assetId: ASSET.id, type: ASSET.type }], createdAt: 0 },
} as Partial<TaskSummary> as TaskSummary;

function answerFrom(content: Blob, task = TASK, leave = () => {}, format: ResponseFormat = "b64_json") {
  const deps = {
    tasks: { assetById: async () => ASSET } as Partial<TaskStore> as TaskStore,
    assets: { open: async () => content } as Partial<AssetStore> as AssetStore,
  };
  const form = { format, origin: "", asked: {}, sent: {}, leave };
  return imagesReply(deps, task, form);
}

test("An answer that is read from disk is over when it has been read", async () => {
  const { body, over } = await answerFrom(new Blob([new Uint8Array(LARGE_BYTES)]));
  const content = new Uint8Array(LARGE_BYTES).toBase64();
  expect(await new Response(body).json()).toMatchObject({ data: [{ b64_json: content }] });
  await over;
});

test("An answer that is read from disk is over when the disk fails, and its caller counts as left", async () => {
  const unreadable = () => ({ arrayBuffer: () => Promise.reject(new Error("EIO")) });
  const content = { size: LARGE_BYTES, slice: unreadable } as unknown as Blob;
  let left = 0;
  const { body, over } = await answerFrom(content, TASK, () => (left += 1));
  expect(await new Response(body).text().catch((error: Error) => error.message)).toBe("EIO");
  await over;
  expect(left).toBe(1);
});

test("A task whose files were removed is no answer, in neither form", async () => {
  for (const format of ["b64_json", "url"] as const) {
    const answer = answerFrom(new Blob(), { ...TASK, filesRemovedAt: 1 }, undefined, format);
    expect(await rejection(answer)).toMatchObject({
      code: "internal_error",
      details: { taskId: TASK.id, shouldRetry: false },
    });
  }
});

test("An answer of four pictures of 20 MB has one piece of them in memory at a time", async () => {
  const [pictureBytes, pieceBytes] = [20_000_000, 192 * 1024];
  let readBytes = 0;
  const picture = {
    size: pictureBytes,
    slice: (from: number, to: number) => ({
      arrayBuffer: async () => {
        const piece = new Uint8Array(Math.min(to, pictureBytes) - from).fill(readBytes);
        readBytes += piece.length;
        return piece.buffer;
      },
    }),
  } as unknown as Blob;
  const results = Array(4).fill(TASK.results[0]);
  const { body, over } = await answerFrom(picture, { ...TASK, results });
  // Nothing is read before somebody reads.
  expect(readBytes).toBe(0);
  let sentBytes = 0;
  for await (const piece of new Response(body).body ?? []) {
    sentBytes += piece.length;
    expect(readBytes * (4 / 3) - sentBytes).toBeLessThanOrEqual(2 * pieceBytes);
  }
  expect(readBytes).toBe(4 * pictureBytes);
  expect(sentBytes).toBeGreaterThan(readBytes * (4 / 3));
  await over;
});
