import { expect, test } from "bun:test";
import sharp from "sharp";
import type { StoredFile } from "../../../src/domain/media/asset.ts";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import {
  type ReadInteractionDeps,
  readInteraction,
} from "../../../src/http/facades/gemini/interactions/read.ts";
import { removeContents } from "../../../src/service/remove-task.ts";
import { contentFiles, makeFsStore } from "../../helpers/media-store.ts";
import { ACCOUNT, NOW, taskId } from "../../helpers/store.ts";

/** A picture that cannot be made small. */
function noisy(seed: number): Promise<Uint8Array> {
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  const create = { width: 512 + seed, height: 512, channels: 3, background: "#808080", noise } as const;
  return sharp({ create }).png().toBuffer();
}

test("an interaction that is deleted while it is told is told whole, and its files go then", async () => {
  const { store: assets, directory, remove } = await makeFsStore();
  const pictures = await Promise.all([1, 2, 3].map(noisy));
  const stored: StoredFile[] = [];
  for (const picture of pictures)
    stored.push(await assets.put(picture, { accept: ["image"], maxBytes: 10_000_000, sanitize: false }));
  const results = stored.map(({ type }, i) => ({ assetId: String(i), type }));
  const task = {
    ...{ id: taskId(1), accountId: ACCOUNT, kind: "image", model: "sandbox-image", status: "completed" },
    ...{ createdAt: NOW, completedAt: NOW, results },
  };
  let isDeleted = false;
  const deps = {
    assets,
    tasks: {
      summary: async () => (isDeleted ? undefined : task),
      assetById: async (id: string) => stored[Number(id)],
    },
    retention: { neededContents: async () => [] },
  } as unknown as ReadInteractionDeps;
  const exchange = {
    ...{ principal: { accountId: ACCOUNT }, origin: "http://svc.example" },
    ...{ param: () => task.id, query: () => new URLSearchParams() },
  } as unknown as KeyedExchange;

  const { body, over } = await readInteraction(deps, exchange);
  isDeleted = true;
  const contents = stored.map(({ sha256 }) => sha256);
  expect(await removeContents(deps, contents)).toBe(0);
  const { steps } = (await new Response(body as ReadableStream<Uint8Array>).json()) as {
    steps: { content: { data: string }[] }[];
  };
  expect(steps[0]?.content.map(({ data }) => Buffer.from(data, "base64").toString("hex"))).toEqual(
    pictures.map((picture) => Buffer.from(picture).toString("hex")),
  );
  await over;
  while ((await contentFiles(directory)).length > 0)
    await new Promise<void>((resolve) => setImmediate(resolve));
  await remove();
});
