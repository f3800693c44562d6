import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURE } from "../../src/providers/declared/rehearsal/upstream.ts";
import { emptyFolder, svc } from "./support.ts";

/** A secret that must be in nothing that is printed or written. */
const CANARY = "canary-0123456789abcdefghijklmnopqrstuvwxyz";

let state = "done";
let fileStatus = 200;
const arrived: { readonly path: string; readonly key: string | null; readonly body: string }[] = [];
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, origin } = new URL(request.url);
    const key = request.headers.get("x-key");
    arrived.push({ path: pathname, key, body: await request.text() });
    if (pathname === "/pictures") return Response.json({ id: "7", seen: `the key is ${CANARY}` });
    if (pathname === "/pictures/7") return Response.json({ state, url: `${origin}/made.png`, cost: 4 });
    return new Response(PICTURE, { status: fileStatus });
  },
});
afterAll(() => upstream.stop(true));

async function folder(): Promise<string> {
  const cwd = emptyFolder();
  const form = `provider: plain
form: 1
base: http://127.0.0.1:${upstream.port}
auth: { header: x-key, value: "\${key}", key_env: PLAIN_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}", model: "\${model}", seed: "\${params.?seed}", mode: "\${mode}", each image as image: "\${base64(file)}" }
  operation: { id: "\${body.id}" }
  poll_after: \${0.1}
poll:
  get: /pictures/\${operation.id}
  status: \${body.state}
  words: { done: succeeded, bad: { failed: moderated } }
  outputs: { url: "\${body.url}" }
  cost: { amount: "\${body.cost}", unit_usd: 0.01 }
`;
  await Bun.write(join(cwd, "plain.yaml"), form);
  return cwd;
}

const run = async (cwd: string, ...more: string[]) =>
  svc(["providers", "try", "plain.yaml", "a-model", "-p", "A fox", "-i", "seed=0", ...more], {
    cwd,
    env: { PLAIN_KEY: CANARY },
  });

test("a task is made, shown and saved, and the key is in nothing but the request", async () => {
  const cwd = await folder();
  const { exitCode, stdout, stderr } = await run(cwd, "--yes", "-o", "made");
  expect(exitCode).toBe(0);
  expect(arrived.map(({ path, key }) => [path, key])).toEqual([
    ["/pictures", CANARY],
    ["/pictures/7", CANARY],
    ["/made.png", null],
  ]);
  expect(JSON.parse(arrived[0]?.body ?? "")).toEqual({
    ...{ prompt: "A fox", model: "a-model", seed: 0, mode: "text-to-image" },
  });
  const saved = stdout.trim();
  expect(saved).toStartWith(join(cwd, "made/plain-"));
  expect(new Uint8Array(readFileSync(saved))).toEqual(new Uint8Array(PICTURE));
  expect(stderr).toContain(`> POST http://127.0.0.1:${upstream.port}/pictures\n`);
  expect(stderr).toContain("> x-key: [secret]\n");
  expect(stderr).toContain('> {"prompt":"A fox","model":"a-model","seed":0,"mode":"text-to-image"}\n');
  expect(stderr).toContain('< 200 {"id":"7","seen":"the key is [secret]"}\n');
  expect(stderr).toContain("It cost 0.040000 USD.");
  expect(stdout + stderr).not.toContain(CANARY);
});

test("a job that fails ends it with 3", async () => {
  state = "bad";
  const { exitCode, stderr } = await run(await folder(), "--yes", "--json");
  state = "done";
  expect(exitCode).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "task_failed" } });
});

test("a result that cannot be fetched ends it with what the job is asked after by", async () => {
  fileStatus = 410;
  const cwd = await folder();
  const { exitCode, stderr } = await run(cwd, "--yes");
  const json = JSON.parse((await run(cwd, "--yes", "--json")).stderr);
  fileStatus = 200;
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/error: plain: an output is gone \(410\)\./);
  expect(stderr).toContain('It is asked after by {"flow":"","kind":"image",');
  expect(json).toMatchObject({ error: { code: "job_left", operation: { values: { id: "7" } } } });
});

test("a folder that nothing can be saved in is told before anything is sent", async () => {
  arrived.length = 0;
  const cwd = await folder();
  const unsaved = await run(cwd, "--yes", "-o", "plain.yaml");
  expect(unsaved).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unsaved.stderr).toContain(`--out: nothing can be saved in ${join(cwd, "plain.yaml")}: `);
  expect(arrived).toEqual([]);
});

test("a file is sent as what its name says, and not as text", async () => {
  arrived.length = 0;
  const cwd = await folder();
  await Bun.write(join(cwd, "photo.png"), PICTURE);
  expect((await run(cwd, "--yes", "-i", "image=@photo.png")).exitCode).toBe(0);
  const { mode, image } = JSON.parse(arrived[0]?.body ?? "");
  expect(mode).toBe("image-to-image");
  expect(new Uint8Array(Buffer.from(image, "base64"))).toEqual(new Uint8Array(PICTURE));
});

test.each([
  ["picture=@photo.png", "--input picture: a file is one of image, mask, first_frame"],
  ["image=@none.png", "--input image: none.png cannot be read: there is no such file or folder."],
  ["image=@plain.yaml", "--input image "],
  ["seed=12345678901234567890", "seed: the number 12345678901234567890 would be rounded."],
  ["seed:=[9007199254740993]", "seed: the number 9007199254740993 would be rounded."],
])("%s is refused before anything is sent", async (input, message) => {
  arrived.length = 0;
  const { exitCode, stderr } = await run(await folder(), "--yes", "-i", input);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
  expect(arrived).toEqual([]);
});

test("nothing is sent without a yes, a key, or a usable file", async () => {
  arrived.length = 0;
  const cwd = await folder();
  expect((await run(cwd)).exitCode).toBe(2);
  const keyless = await svc(["providers", "try", "plain.yaml", "m", "--yes"], { cwd });
  expect(keyless).toEqual({ exitCode: 4, stdout: "", stderr: "error: There is no key. Set PLAIN_KEY.\n" });
  await Bun.write(join(cwd, "plain.yaml"), "provider: plain\n");
  expect((await run(cwd, "--yes")).exitCode).toBe(1);
  expect(arrived).toEqual([]);
});
