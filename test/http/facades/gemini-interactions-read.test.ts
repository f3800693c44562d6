import { expect, test } from "bun:test";
import type { KeyedExchange } from "../../../src/http/exchange.ts";
import {
  type ReadInteractionDeps,
  readInteraction,
} from "../../../src/http/facades/gemini/interactions/read.ts";
import { ACCOUNT, NOW, taskId } from "../../helpers/store.ts";

const MIB = 2 ** 20;

interface Video {
  readonly sizeBytes: number;
  readonly content?: Blob;
  /** Whether its task is deleted when its file is read. */
  readonly isDeleted?: boolean;
}

/** Reads a task with one video. @returns how often a file was opened, and the answer */
async function answerWith({ sizeBytes, content = new Blob(["film"]), isDeleted = false }: Video) {
  let opened = 0;
  const result = { assetId: "asset_1", type: "video/mp4" };
  const task = {
    ...{ id: taskId(1), accountId: ACCOUNT, kind: "video", model: "sandbox-video", status: "completed" },
    ...{ createdAt: NOW, completedAt: NOW, results: [result] },
  };
  const deps = {
    tasks: {
      summary: async () => (isDeleted && opened > 0 ? undefined : task),
      assetById: () => ({ ...result, sizeBytes }),
    },
    assets: {
      async open() {
        opened += 1;
        return content;
      },
      hold: async () => undefined,
      removeUnheld: async () => true,
    },
    retention: { neededContents: async () => [] },
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
  return { opened, body: read.body };
}

/** @returns how often a file was opened, and what the answer has of it */
async function readVideo(sizeBytes: number) {
  const { opened, body } = await answerWith({ sizeBytes });
  const { steps } = JSON.parse(String(body)) as { steps: readonly { content: readonly object[] }[] };
  return { opened, members: Object.keys(steps[0]?.content[0] ?? {}) };
}

test("a video that is too large for the answer is not opened, which would fetch it from a bucket", async () => {
  expect(await readVideo(4 * MIB)).toEqual({ opened: 1, members: ["type", "mime_type", "uri", "data"] });
  expect(await readVideo(4 * MIB + 1)).toEqual({ opened: 0, members: ["type", "mime_type", "uri"] });
});

/** A file that is removed before so much of it was read. */
function removedAt(sizeBytes: number, readBytes: number): Blob {
  const slice = (from: number, to: number) => ({
    arrayBuffer: async () => {
      if (from >= readBytes) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return new ArrayBuffer(Math.min(to, sizeBytes) - from);
    },
  });
  return { size: sizeBytes, slice } as unknown as Blob;
}

test("a task that is deleted while its file is opened is not found", async () => {
  const gone = { sizeBytes: MIB, content: removedAt(MIB, 0) };
  const thrown = (video: Video) => answerWith(video).catch((error: unknown) => error);
  expect(await thrown({ ...gone, isDeleted: true })).toMatchObject({ code: "task_not_found" });
  expect(await thrown(gone)).toMatchObject({ code: "ENOENT" });
});

test("a file that is removed during an answer ends it", async () => {
  const { body } = await answerWith({ sizeBytes: MIB, content: removedAt(MIB, MIB / 2), isDeleted: true });
  expect(body).toBeInstanceOf(ReadableStream);
  const read = new Response(body as ReadableStream<Uint8Array>).text();
  expect(await read.catch((error: unknown) => error)).toMatchObject({ code: "ENOENT" });
});
