import { afterAll, beforeEach, expect, test } from "bun:test";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import type { ExampleForm } from "../../../src/providers/declared/form.ts";
import { FormFileError, readForm } from "../../../src/providers/declared/read-form.ts";
import { rehearsedProvider, requestOf } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startUpstream } from "../../helpers/scripted-upstream.ts";

const HEAD = `provider: uploads
form: 1
base: https://api.uploads.example
auth: { header: x-key, value: "\${key}", key_env: UPLOADS_KEY }
`;
const SUBMIT = `submit:
      post: /jobs
      json: { first: '\${input("first_frame").?id}', last: '\${input("last_frame").?id}', image: '\${input("image").?id}' }
      outputs: { url: "\${body.url}" }
`;
const upload = (path: string, roles: string) =>
  `{ roles: [${roles}], post: ${path}, json: { role: "\${file.role}", file: "\${file.base64}" }, gives: { id: "\${body.id}" } }`;

let made = 0;
const upstream = await startUpstream(({ path }) =>
  path === "/jobs"
    ? { json: { url: `${upstream.origin}/made` } }
    : { json: { id: `${path.slice(1)}-${++made}` } },
);
afterAll(() => upstream.stop());
beforeEach(() => {
  made = 0;
  upstream.arrived.length = 0;
});

/** Submits a picture in these roles, and tells the ids that the submission names. */
function submitter(text: string, clock: Clock = fakeClock()) {
  const provider = rehearsedProvider(readForm("uploads.yaml", text), upstream.origin, clock);
  return async (request: Pick<ExampleForm["request"], "kind" | "inputs">) => {
    const example = { name: "", request: { model: "m", mode: "x", ...request }, answers: [] } as const;
    const given = requestOf({ ...example, ends: "pending" }, "uploads");
    const inputs = given.inputs.map((input) => ({ ...input, sha256: "one picture" }));
    await provider.submit({ ...given, inputs }, new AbortController().signal);
    return JSON.parse(upstream.arrived.at(-1)?.body.toString() ?? "");
  };
}

test("an upload of one flow is not sent by another, whose upload is another", async () => {
  const submit = submitter(`${HEAD}flows:
  images:
    when: '\${kind == "image"}'
    prepare: [ ${upload("/pictures", "image")} ]
    ${SUBMIT}
  videos:
    prepare: [ ${upload("/frames", "image")} ]
    ${SUBMIT}`);
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "pictures-1" });
  expect(await submit({ kind: "video", inputs: ["image"] })).toEqual({ image: "frames-2" });
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "pictures-1" });
});

test("flows without uploads of their own share those of the form", async () => {
  const submit = submitter(`${HEAD}prepare: [ ${upload("/files", "image")} ]
flows:
  images:
    when: '\${kind == "image"}'
    ${SUBMIT}
  videos:
    ${SUBMIT}`);
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "files-1" });
  expect(await submit({ kind: "video", inputs: ["image"] })).toEqual({ image: "files-1" });
});

test("one picture in two roles is uploaded as each", async () => {
  const submit = submitter(`${HEAD}prepare: [ ${upload("/files", "first_frame, last_frame")} ]
${SUBMIT.replaceAll("\n    ", "\n")}`);
  const inputs = ["first_frame", "last_frame"];
  expect(await submit({ kind: "video", inputs })).toEqual({ first: "files-1", last: "files-2" });
  expect(await submit({ kind: "video", inputs })).toEqual({ first: "files-1", last: "files-2" });
});

test.each(["${params.size}", "${prompt}", "${model}", '${input("mask").?id}'])(
  "an upload, which several tasks share, cannot depend on %s",
  (value) => {
    const text = `${HEAD}prepare: [ ${upload("/files", "image").replace("${file.role}", () => value.replaceAll('"', "'"))} ]
${SUBMIT.replaceAll("\n    ", "\n")}`;
    expect(() => readForm("uploads.yaml", text)).toThrow(FormFileError);
    expect(() => readForm("uploads.yaml", text)).toThrow(/^uploads.yaml:5:\d+: prepare\[0\]\.json\.role /);
  },
);

test.each([
  [400, "files-1", ["/jobs", "/files", "/jobs"], "succeeded"],
  [404, "files-1", ["/jobs", "/files", "/jobs"], "succeeded"],
  // What is wrong is something else.
  [400, "", ["/jobs", "/files", "/jobs"], "refused"],
  [429, "files-1", ["/jobs"], "refused"],
  [500, "files-1", ["/jobs"], "refused"],
] as const)(
  "an upload of another task that may be gone is made once more: %d, of %j",
  async (status, gone, paths, end) => {
    const text = `${HEAD}prepare: [ ${upload("/files", "image")} ]\n${SUBMIT.replaceAll(/^ {4}/gm, "")}`;
    const submit = submitter(text);
    await submit({ kind: "image", inputs: ["image"] });
    const { answer } = upstream;
    upstream.answer = (call) =>
      call.path === "/jobs" && call.body.toString().includes(gone) ? { status, json: {} } : answer(call);
    upstream.arrived.length = 0;
    const ended = await submit({ kind: "image", inputs: ["image"] }).then(
      () => "succeeded",
      () => "refused",
    );
    upstream.answer = answer;
    expect({ paths: upstream.arrived.map(({ path }) => path), ended }).toEqual({
      paths: [...paths],
      ended: end,
    });
  },
);

test("an upload is kept as long as it says, however the clock is set", async () => {
  const clock = fakeClock();
  const text = `${HEAD}prepare: [ ${upload("/files", "image")} ]\n${SUBMIT.replaceAll(/^ {4}/gm, "")}`;
  const submit = submitter(text, { ...clock, now: () => 0 });
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "files-1" });
  clock.advance(86_399_000);
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "files-1" });
  clock.advance(1_000);
  expect(await submit({ kind: "image", inputs: ["image"] })).toEqual({ image: "files-2" });
});
