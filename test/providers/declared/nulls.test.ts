import { expect, test } from "bun:test";
import type { Scripted } from "../../helpers/scripted-upstream.ts";
import { exampleOf, watch } from "./play.ts";

/** Answers in which null stands for what the upstream has nothing to say about. */
const CASES: Readonly<
  Record<string, readonly [example: string, answers: (file: string) => readonly object[]]>
> = {
  bfl: [
    "text to image",
    (file) => [
      { id: "1", polling_url: new URL("/v1/get_result?id=1", file).href },
      { id: "1", status: null, state: "Ready", result: { sample: file } },
    ],
  ],
  byteplus: [
    "text to video",
    (file) => [
      { id: "cgt-1", error: null },
      { id: "cgt-1", status: "succeeded", error: null, content: { video_url: file } },
    ],
  ],
  gemini: [
    "text to video",
    (file) => [
      { name: "models/veo/operations/1", error: null },
      {
        ...{ name: "models/veo/operations/1", done: true, error: null },
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri: file } }] } },
      },
    ],
  ],
  ideogram: [
    "3.0 from a prompt, in the style of an image",
    (file) => [{ data: [{ url: file, is_image_safe: null }] }],
  ],
  xai: [
    "image to video",
    (file) => [
      { request_id: "r" },
      { status: null, error: null, video: { url: file, respect_moderation: null } },
    ],
  ],
};

test.each(Object.entries(CASES))(
  "%s may say null where it has nothing to say",
  async (provider, [name, answers]) => {
    const { request } = exampleOf(provider, name);
    const { end } = await watch(provider, request, (origin) =>
      answers(`${origin}/made/1`).map((json): Scripted => ({ json })),
    );
    expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }] });
  },
);
