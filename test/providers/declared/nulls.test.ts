import { expect, test } from "bun:test";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { runExample } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
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

test("a form need not know where its upstream says null", async () => {
  const form = readForm(
    "own.yaml",
    `provider: own
form: 1
base: https://api.own.example
auth: { none: true }
envelope: { ok: "\${!has(body.error)}" }
submit: { post: /jobs, json: { prompt: "\${prompt}" }, operation: { id: "\${body.?task_id.orValue(body.id)}" } }
poll:
  get: /jobs/\${operation.id}
  status: \${body.?state.orValue("done")}
  words: { busy: pending, done: succeeded }
  outputs:
    each: \${body.files}
    url: \${item.?url}
    missing: '\${item.?withheld.orValue(false) ? "moderated" : ""}'
examples:
  - name: nothing is said
    request: { model: m, kind: image, mode: text-to-image, prompt: A fox }
    answers:
      - { body: { id: "1", task_id: null, error: null } }
      - { body: { state: busy, error: null, files: null } }
      - { body: { state: null, error: null, files: [{ url: "\${media}", withheld: null }] } }
    ends: succeeded
`,
  );
  const [example] = form.examples ?? [];
  if (example === undefined) throw new Error("The form has no example.");
  expect((await runExample(form, example, { clock: fakeClock() })).differences).toEqual([]);
});
