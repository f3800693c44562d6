import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { type Scripted, startUpstream } from "../helpers/scripted-upstream.ts";
import { stopServers } from "../helpers/server.ts";
import { download } from "./support/api.ts";
import { BFL_PENDING, type BflScript, startBfl } from "./support/bfl.ts";
import { moneyOf, serveDeclared } from "./support/declared.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const started: { stop(): void }[] = [];
afterEach(async () => {
  for (const upstream of started.splice(0)) upstream.stop();
  await stopServers();
});

async function bflWith(script: BflScript = {}) {
  const bfl = await startBfl(script);
  started.push(bfl);
  return bfl;
}

test("two accounts are both used, each with its own key at its own address", async () => {
  let isOpen = false;
  const script: BflScript = { poll: () => (isOpen ? undefined : BFL_PENDING) };
  const [first, second] = await Promise.all([bflWith(script), bflWith(script)]);
  const { api, server } = await serveDeclared(
    `providers:
  bfl:
    concurrency: 1
    accounts:
      - { name: first, key_env: FIRST_KEY, base_url: "${first.upstream.origin}" }
      - { name: second, key_file: second.key, base_url: "${second.upstream.origin}" }
`,
    { FIRST_KEY: "bfl-first-0123456789" },
    { "second.key": "bfl-second-0123456789\n" },
  );
  const create = (prompt: string) => api.accept({ model: "flux-2-pro", prompt });
  const ids = await Promise.all(["one", "two", "three", "four"].map(create));
  await Promise.all([first.submitted(1), second.submitted(1)]);
  isOpen = true;
  const tasks = await Promise.all(ids.map((id) => api.wait(id)));
  expect(tasks.map(({ status }) => status)).toEqual(Array(4).fill("completed"));
  const keys = (upstream: typeof first) => [...new Set(upstream.submissions.map(({ key }) => key))];
  expect([keys(first), keys(second)]).toEqual([["bfl-first-0123456789"], ["bfl-second-0123456789"]]);
  const prompts = [first, second].flatMap(({ submissions }) => submissions.map(({ body }) => body.prompt));
  expect(prompts.toSorted()).toEqual(["four", "one", "three", "two"]);
  expect(await moneyOf(server)).toMatchObject({ balance: "0.880000", held: "0.000000" });
});

test("what the first route refuses without a charge the second makes, held once and charged once", async () => {
  const bfl = await bflWith();
  const broke: Scripted = { status: 403, json: { detail: "User is locked. Reason: Exhausted balance." } };
  const fal = await startUpstream(() => broke);
  started.push(fal);
  const { api, server } = await serveDeclared(
    `providers: { fal: { base_url: "${fal.origin}" }, bfl: { base_url: "${bfl.upstream.origin}" } }\n`,
    { FAL_KEY: "fal-0123456789abcdef", BFL_API_KEY: "bfl-0123456789abcdef" },
  );
  const task = await api.make({ model: "flux-dev", prompt: "a fox", aspect_ratio: "3:2", seed: 7 });
  expect(task).toMatchObject({ status: "completed", usage: { cost: "0.025000" } });
  expect(fal.arrived).toHaveLength(1);
  expect(bfl.submissions).toMatchObject([
    { path: "/v1/flux-dev", body: { prompt: "a fox", width: 1248, height: 832, seed: 7 } },
  ]);
  expect(await moneyOf(server)).toEqual({
    balance: "0.975000",
    held: "0.000000",
    kinds: ["credit", "hold", "capture"],
  });
});

test("the synchronous images API makes and edits pictures with a declared provider", async () => {
  const bfl = await bflWith();
  const { api, server } = await serveDeclared(
    `providers: { bfl: { base_url: "${bfl.upstream.origin}" } }\n`,
    {
      BFL_API_KEY: "bfl-0123456789abcdef",
    },
  );
  const client = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: api.key, maxRetries: 0 });
  const model = "flux-2-pro";
  const { data: [inline] = [] } = await client.images.generate({ model, prompt: "a fox", size: "1536x1024" });
  expect(await decode(Buffer.from(inline?.b64_json ?? "", "base64"))).toMatchObject({
    width: 64,
    height: 48,
  });
  const asked = { model, prompt: "a hare", response_format: "url" } as const;
  const { data: [addressed] = [] } = await client.images.generate(asked);
  expect(await decode(await download(addressed?.url))).toMatchObject({ width: 64, height: 48 });
  const image = await toFile(await plainImage(80, 60), "picture.png", { type: "image/png" });
  const { data: [edited] = [] } = await client.images.edit({ model, prompt: "in winter", image });
  expect(edited?.b64_json).toBeString();
  expect(bfl.submissions.map(({ body }) => [body.prompt, body.width, body.height])).toEqual([
    ["a fox", 1536, 1024],
    ["a hare", undefined, undefined],
    ["in winter", undefined, undefined],
  ]);
  const sent = Buffer.from(String(bfl.submissions[2]?.body.input_image), "base64");
  expect(await decode(sent)).toMatchObject({ width: 80, height: 60 });
});

test("a failure at the provider is told as one, and not as a defect of the service", async () => {
  const bfl = await bflWith({ submission: () => ({ json: { status: "taken" } }) });
  const { api, server } = await serveDeclared(
    `providers: { bfl: { base_url: "${bfl.upstream.origin}" } }\n`,
    {
      BFL_API_KEY: "bfl-0123456789abcdef",
    },
  );
  const client = new OpenAI({ baseURL: `${server.url}/compat/v1`, apiKey: api.key, maxRetries: 0 });
  const call = client.images.generate({ model: "flux-2-pro", prompt: "a fox" });
  expect(await call.catch((error: unknown) => error)).toMatchObject({ status: 500, code: "internal_error" });
  await server.says(/"msg":"task failed"/);
  expect(server.stderr()).not.toMatch(/unexpected error|"level":"error"/);
});
