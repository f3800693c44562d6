import { expect, test } from "bun:test";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import {
  type ReadInteractionDeps,
  readInteraction,
} from "../../../src/http/facades/gemini/interactions/read.ts";
import { ACCOUNT, NOW, taskId } from "../../helpers/store.ts";

const MIB = 2 ** 20;

/** Reads a task with one video of so many bytes. @returns how often a file was opened, and what the answer has of it */
async function readVideo(sizeBytes: number) {
  let opened = 0;
  const result = { assetId: "asset_1", type: "video/mp4" };
  const task = {
    ...{ id: taskId(1), accountId: ACCOUNT, kind: "video", model: "sandbox-video", status: "completed" },
    ...{ createdAt: NOW, completedAt: NOW, results: [result] },
  };
  const deps = {
    tasks: { summary: async () => task, assetById: () => ({ ...result, sizeBytes }) },
    assets: {
      async open() {
        opened += 1;
        return new Blob(["film"]);
      },
    },
  };
  const exchange = {
    ...{ principal: { accountId: ACCOUNT }, origin: "http://svc.example" },
    ...{ param: () => task.id, query: () => new URLSearchParams() },
  };
  // They have what is read of them.
  const read = await readInteraction(
    deps as unknown as ReadInteractionDeps,
    exchange as unknown as KeyedExchange,
  );
  const { steps } = JSON.parse(String(read.body)) as { steps: readonly { content: readonly object[] }[] };
  return { opened, members: Object.keys(steps[0]?.content[0] ?? {}) };
}

test("a video that is too large for the answer is not opened, which would fetch it from a bucket", async () => {
  expect(await readVideo(4 * MIB)).toEqual({ opened: 1, members: ["type", "mime_type", "uri", "data"] });
  expect(await readVideo(4 * MIB + 1)).toEqual({ opened: 0, members: ["type", "mime_type", "uri"] });
});
