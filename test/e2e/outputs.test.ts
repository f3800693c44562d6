import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CANARY, contains, gif, insert, png, text } from "../helpers/media.ts";
import { webm } from "../helpers/media-video.ts";
import { type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { svc } from "./support/command.ts";
import { dataUri } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const manifest = (id: string, kind: "image" | "video") => `id: ${id}
kind: ${kind}
name: House style
description: What this house makes.
modes: [{ id: text-to-${kind}, requires: [] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000 }
    output_format: { type: string, enum: [svg, gif], description: File format of the results. }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: house, upstream_model: style, wording: {} }
`;

/** Its provider cannot be told a format of files. */
const PHOTO = manifest("house-photo", "image").replace(/ {4}output_format.*\n/, "");

const form = (base: string) => `provider: house
form: 1
base: ${base}
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;

const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 6"><path d="M0 0H8V6z"/></svg>';
const HOSTILE = `<?xml version="1.0"?>\n<!-- ${CANARY} -->\n${DRAWING.replace("<path", '<script>alert(1)</script><path onclick="alert(1)"')}`;

let upstream: ScriptedUpstream;
let api: Api;
let animation: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  animation = await gif(16, 12, 3);
  const comment = Buffer.from(`\x21\xfe${String.fromCharCode(CANARY.length)}${CANARY}\0`, "latin1");
  const commented = insert(animation, animation.length - 1, comment);
  const pictures: Record<string, Uint8Array> = {
    "a drawing": text(HOSTILE),
    "half a drawing": text(HOSTILE.slice(0, -8)),
    "an animation": commented,
    "half an animation": animation.subarray(0, animation.length / 2),
    "a photo": await png(24, 16),
    "a video with sound": await webm({ sound: "opus", tags: { title: CANARY } }),
  };
  upstream = await startUpstream(({ body }) => {
    const { prompt } = JSON.parse(body.toString()) as { prompt: string };
    return { json: { picture: Buffer.from(pictures[prompt] ?? []).toString("base64") } };
  });
  const folder = emptyFolder();
  const write = (kind: "providers" | "models", name: string, content: string) => {
    mkdirSync(join(folder, "svc-data", kind), { recursive: true });
    writeFileSync(join(folder, "svc-data", kind, name), content);
  };
  write("providers", "house.yaml", form(upstream.origin));
  write("models", "house-image.yaml", manifest("house-image", "image"));
  write("models", "house-photo.yaml", PHOTO);
  write("models", "sandbox-video-house.yaml", manifest("sandbox-video-house", "video"));
  const env = { HOUSE_KEY: "house-key-0123456789abcdef" };
  const server = await startServer({ folder, args: ["--egress-allow", "127.0.0.0/8"], env });
  api = createApi(server.url, server.firstKey());
});
afterAll(async () => {
  upstream.stop();
  await stopServers();
});

const make = (prompt: string, model = "house-image") => api.make({ model, prompt });

test("a drawing is stored without what could run, and served so that nothing would", async () => {
  const task = await make("a drawing");
  expect([task.status, task.usage?.cost]).toEqual(["completed", "0.020000"]);
  const [url = ""] = task.result ?? [];
  expect(url).toEndWith(".svg");
  const response = await fetch(url, { keepalive: false });
  expect(await response.text()).toBe(DRAWING);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "image/svg+xml",
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "x-content-type-options": "nosniff",
  });
});

test("an animated GIF is stored without its comments, and its size and time are known", async () => {
  const task = await make("an animation");
  const [url = ""] = task.result ?? [];
  expect(url).toEndWith(".gif");
  expect(Buffer.compare(await download(url), animation)).toBe(0);
  expect((await fetch(url, { method: "HEAD" })).headers.get("content-type")).toBe("image/gif");
  const trace = JSON.parse((await api.send(`/v1/tasks/${task.task_id}/trace`)).text);
  expect(trace.data.assets).toMatchObject([
    { media_type: "image/gif", width: 16, height: 12, duration_ms: 300 },
  ]);
});

test("a WebM keeps its sound and loses its title", async () => {
  const task = await make("a video with sound", "sandbox-video-house");
  const [url = ""] = task.result ?? [];
  expect(url).toEndWith(".webm");
  const bytes = await download(url);
  expect([contains(bytes, "A_OPUS"), contains(bytes, CANARY)]).toEqual([true, false]);
});

test.each(["half a drawing", "half an animation"])("%s is no result, and costs nothing", async (prompt) => {
  const task = await make(prompt);
  const { status, error_code: code, usage, result } = task;
  expect([status, code, usage?.cost, result]).toEqual([
    "failed",
    "FINALIZATION_FAILED",
    "0.000000",
    undefined,
  ]);
});

test.each([
  ["a drawing", "svg", "8x6"],
  ["an animation", "gif", "16x12"],
])("%s is answered by the synchronous API as what it is", async (prompt, format, size) => {
  const body = { model: "house-image", prompt, output_format: format };
  const { text: answer } = await api.send("/compat/v1/images/generations", { body });
  expect(JSON.parse(answer)).toMatchObject({
    data: [{ b64_json: expect.any(String) }],
    output_format: format,
    size,
  });
  const png = await api.send("/compat/v1/images/generations", { body: { ...body, output_format: "png" } });
  expect([png.status, png.body.error?.param]).toEqual([400, "output_format"]);
});

test("a picture comes in the format that its caller asks for, though its provider makes another one", async () => {
  const headers = { Authorization: `Key ${api.key}` };
  const photo = { prompt: "a photo", output_format: "jpeg" };
  const run = await api.send("/fal/house-photo", { body: photo, headers });
  const { images } = JSON.parse(run.text);
  expect(images).toMatchObject([{ content_type: "image/jpeg", width: 24, height: 16 }]);
  expect(images[0].url).toEndWith(".jpg");
  const bytes = await download(images[0].url);
  expect([bytes[0], bytes[1], bytes.length]).toEqual([0xff, 0xd8, images[0].file_size]);

  const body = { model: "house-photo", ...photo, output_format: "webp" };
  const synchronous = await api.send("/compat/v1/images/generations", { body });
  expect(JSON.parse(synchronous.text)).toMatchObject({ output_format: "webp", size: "24x16" });
  expect(synchronous.headers.get("x-svc-adjusted")).toBeNull();

  const id = synchronous.headers.get("x-task-id") ?? "";
  const retried = JSON.parse((await api.send(`/v1/tasks/${id}/retry`, { method: "POST" })).text);
  expect((await api.wait(retried.data.task_id)).result?.[0]).toEndWith(".webp");
  // Without a wish it is what the provider made.
  expect((await make("a photo", "house-photo")).result?.[0]).toEndWith(".png");
});

test("neither is taken as an input, however it is given", async () => {
  const [drawing, moving] = [await make("a drawing"), await make("an animation")];
  const given: [unknown, string][] = [
    [drawing.result?.[0], "SVG"],
    [moving.result?.[0], "GIF"],
    [dataUri(text(DRAWING), "image/svg+xml"), "SVG"],
    [dataUri(animation, "image/gif"), "GIF"],
  ];
  for (const [image, format] of given) {
    const answer = await api.create({ model: "sandbox-image", prompt: "x", image_url: String(image) });
    expect([answer.status, answer.data.param]).toEqual([400, "image_url"]);
    expect(answer.body.message).toContain(`of a type that cannot be given (${format})`);
    expect(answer.body.message).toContain("PNG, JPEG or WebP");
  }
});

test("the command saves each under its own ending", async () => {
  const folder = emptyFolder();
  const env = { SVC_SERVER: api.url, SVC_API_KEY: api.key };
  for (const prompt of ["a drawing", "an animation"]) {
    const { task_id: id } = await make(prompt);
    expect((await svc(["task", "download", id, "-o", folder], { env, folder })).exitCode).toBe(0);
  }
  const saved = readdirSync(folder)
    .filter((name) => /\.(?:svg|gif)$/.test(name))
    .sort();
  expect(saved.map((name) => name.slice(name.lastIndexOf(".")))).toEqual(
    expect.arrayContaining([".gif", ".svg"]),
  );
  const drawing = saved.find((name) => name.endsWith(".svg")) ?? "";
  expect(readFileSync(join(folder, drawing), "utf8")).toBe(DRAWING);
});
