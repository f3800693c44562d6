import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { type Server, startServer, stopServers } from "../../helpers/server.ts";
import { type Api, createApi } from "../support/api.ts";
import { leastHeldMs } from "../support/loop-probe.ts";
import { noisePng } from "../support/pictures.ts";

setDefaultTimeout(120_000);

/** What a single input may hold the event loop. */
const MOST_MS = 50;
const GENERATIONS = "/v1/images/generations";
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const UPSTREAM_MODEL = "gpt-image-1-mini";

let server: Server;
let api: Api;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ json: { data: [] } }));
  server = await startServer({
    args: ["--openai-base-url", `${upstream.origin}/v1`],
    env: { OPENAI_API_KEY: "sk-invented" },
  });
  api = createApi(server.url, server.firstKey());
  // What runs for the first time is compiled first.
  await api.make(IMAGE);
  await api.send(GENERATIONS, { body: `{"model":"sandbox-image","prompt":"${"x".repeat(100_000)}"}` });
});

afterAll(async () => {
  upstream.stop();
  await stopServers();
});

const bodyOf = (field: string, value: string) => `{"model":"sandbox-image","prompt":"x","${field}":${value}}`;
const many = (count: number, text: string) => text.repeat(count);

const BODIES: [what: string, status: number, body: () => string][] = [
  ["900 KB of numbers in a list", 400, () => bodyOf("size", `[${many(450_000, "0,")}0]`)],
  ["900 KB of objects in a list", 400, () => bodyOf("size", `[${many(110_000, '{"a":0},')}0]`)],
  [
    "60,000 fields, one of them twice",
    400,
    () => bodyOf("k", `0,${Array.from({ length: 60_000 }, (_, i) => `"k${i}":0`).join()},"k1":0`),
  ],
  ["30 MB of escapes in a string", 413, () => bodyOf("user", `"${many(15_000_000, '\\"')}"`)],
  ["30 MB of escapes in a data URI", 413, () => bodyOf("prompt", `"data:${many(15_000_000, "\\\\")}"`)],
  ["30 MB of text in a data URI", 413, () => bodyOf("prompt", `"data:${many(30_000_000, "x")}"`)],
  ["30 MB of spaces", 413, () => bodyOf("user", `0${many(30_000_000, " ")}`)],
  [
    "a data URI of 30 MB",
    400,
    () => bodyOf("image_url", `"data:image/png;base64,${many(7_500_000, "AAAA")}"`),
  ],
  [
    "a data URI of 30 MB whose slashes are escaped",
    400,
    () => bodyOf("image_url", `"data:image\\/png;base64,${many(10_000_000, "\\/A")}"`),
  ],
];

test.each(BODIES)("%s as a body", async (_, status, make) => {
  const body = make();
  const send = async () => expect((await api.send(GENERATIONS, { body })).status).toBe(status);
  expect(await leastHeldMs(server, send, MOST_MS)).toBeLessThan(MOST_MS);
});

const json = (body: string) => ({ headers: { "content-type": "application/json" }, body });

const ANSWERS: [what: string, status: string, body: () => string | Promise<string>][] = [
  ["5 MB of brackets", "failed", () => many(5_000_000, "[")],
  ["30 MB of numbers", "failed", () => `{"data":[${many(15_000_000, "0,")}0]}`],
  ["24 MB of objects", "failed", () => `{"data":[${many(3_000_000, '{"a":1},')}0]}`],
  [
    "ten pictures of 4 MB",
    "completed",
    async () => {
      const picture = Buffer.from(await noisePng(1150, 1150)).toString("base64");
      return JSON.stringify({ data: Array.from({ length: 10 }, () => ({ b64_json: picture })) });
    },
  ],
];

/** A task that succeeds ends a row of faults, five of which would make the tasks after them wait. */
async function endRowOfFaults(): Promise<void> {
  const picture = Buffer.from(await noisePng(16, 16)).toString("base64");
  upstream.answer = () => json(JSON.stringify({ data: [{ b64_json: picture }] }));
  expect((await api.make({ model: UPSTREAM_MODEL, prompt: "x" })).status).toBe("completed");
}

test.each(ANSWERS)("%s as an upstream's answer", async (_, status, make) => {
  await endRowOfFaults();
  const body = await make();
  upstream.answer = () => json(body);
  const ask = async () => {
    const task = await api.make({ model: UPSTREAM_MODEL, prompt: "x", n: 10 });
    expect(task.status).toBe(status);
  };
  expect(await leastHeldMs(server, ask, MOST_MS)).toBeLessThan(MOST_MS);
});
