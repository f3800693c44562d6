import { expect, test } from "bun:test";
import { type NewTask, summaryOfNew } from "../../../src/domain/task/task.ts";
import { createTellVideo, presentNewVideo } from "../../../src/http/facades/openai-videos/present.ts";
import { newTask, taskId } from "../../helpers/store.ts";

/** A task as it is told when it is read. */
function read(task: NewTask) {
  const tell = createTellVideo({
    tasks: { assetById: async () => undefined, requestOf: async () => task.request },
  });
  return tell(summaryOfNew(task));
}

test("a new video is told as it is when it is read, whatever it was asked for", async () => {
  const plain = newTask();
  const { request } = plain;
  const videos: NewTask[] = [
    plain,
    { ...plain, request: { ...request, prompt: undefined } },
    { ...plain, request: { ...request, prompt: 'A "fox"\n\\ \u2028' } },
    { ...plain, request: { ...request, parameters: { size: "1280x720", seconds: "8" } } },
    {
      ...plain,
      request: { ...request, parameters: { aspect_ratio: "9:16", resolution: "720p", duration: 5 } },
    },
    { ...plain, parent: { id: taskId(7), relation: "remix" } },
    { ...plain, parent: { id: taskId(7), relation: "retry" } },
  ];
  for (const video of videos) {
    const { text, size } = presentNewVideo(video);
    const told = JSON.parse(text);
    expect(told).toEqual(await read(video));
    expect([told.id, told.size]).toEqual([taskId(1), size]);
  }
});
