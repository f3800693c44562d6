import { afterEach, expect, test } from "bun:test";
import type { Json } from "../../src/domain/json.ts";
import type { Clock } from "../../src/domain/ports/runtime.ts";
import { discover, hostsIn } from "../../src/providers/discover.ts";
import { identify } from "../../src/providers/engines.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { fakeClock } from "../helpers/engine.ts";
import {
  MISBEHAVIOURS,
  pour,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../helpers/scripted-upstream.ts";

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

const CAPABILITIES = { supported_modes: ["img_gen"], features_by_mode: {} };
const LIST = (owner: string) => ({
  object: "list",
  data: [{ id: "a", object: "model", owned_by: owner }, { id: "b" }, { no: 1 }],
});
const SD_MODELS = [{ title: "v1-5.safetensors [abc]", model_name: "v1-5", filename: "/models/v1-5" }];

test.each<[string, Readonly<Record<string, Json>>, unknown]>([
  [
    "sd-server, which speaks the APIs of two others too",
    { "/sdcpp/v1/capabilities": CAPABILITIES, "/v1/models": LIST("local"), "/sdapi/v1/sd-models": SD_MODELS },
    { engine: "stable-diffusion.cpp", provider: "sdcpp", path: "", models: ["a", "b"] },
  ],
  [
    "ComfyUI",
    {
      "/system_stats": { system: { comfyui_version: "0.3.64" }, devices: [] },
      "/models/checkpoints": ["x.safetensors"],
    },
    { engine: "ComfyUI", provider: "comfyui", path: "", models: ["x.safetensors"] },
  ],
  [
    "a web UI",
    { "/sdapi/v1/sd-models": SD_MODELS },
    {
      engine: "Stable Diffusion web UI",
      provider: "sdapi",
      path: "",
      models: ["v1-5.safetensors [abc]"],
    },
  ],
  [
    "LocalAI",
    {
      "/v1/models": LIST("x"),
      "/v1/models/capabilities": { data: [{ id: "flux", capabilities: ["image"] }] },
    },
    { engine: "LocalAI", provider: "openai", path: "/v1", also: "OPENAI_API_KEY=none", models: ["flux"] },
  ],
  [
    "Ollama",
    { "/v1/models": LIST("library"), "/api/tags": { models: [{ name: "z-image:latest" }] } },
    {
      engine: "Ollama",
      provider: "openai",
      path: "/v1",
      also: "OPENAI_API_KEY=none",
      models: ["z-image:latest"],
    },
  ],
  [
    "vLLM",
    { "/v1/models": LIST("vllm") },
    { engine: "vLLM", provider: "openai", path: "/v1", also: "OPENAI_API_KEY=none", models: ["a", "b"] },
  ],
  [
    "another server of the OpenAI API",
    { "/v1/models": LIST("me") },
    {
      engine: "OpenAI-shaped server",
      provider: "openai",
      path: "/v1",
      also: "OPENAI_API_KEY=none",
      models: ["a", "b"],
    },
  ],
  [
    "another instance",
    { "/openapi.json": { openapi: "3.1.0", info: { title: "Media generation service" } } },
    { engine: "svc", provider: "svc", path: "", also: "SVC_UPSTREAM_API_KEY=<a key of it>", models: [] },
  ],
  ["nothing that is known", { "/v1/models": { data: "no" }, "/system_stats": { system: 1 } }, undefined],
  ["a page", {}, undefined],
])("%s is known by what it publishes", async (_name, answers, found) => {
  expect(await identify(async (path) => answers[path])).toEqual(found as never);
});

/** Looks at this machine, with scripted servers at ports of their own. */
async function look(...answers: readonly ScriptedUpstream["answer"][]) {
  return lookAt(createSystemClock(), answers);
}

async function lookAt(clock: Clock, answers: readonly ScriptedUpstream["answer"][]) {
  for (const answer of answers) started.push(await startUpstream(answer));
  const ports = started.map(({ origin }) => Number(new URL(origin).port));
  const { found } = await discover({ ports, allow: [] }, { clock, signal: new AbortController().signal });
  // Other ports may be taken by anybody.
  const ours = found.filter(({ origin }) => ports.includes(Number(new URL(origin).port)));
  return ours.map(({ engine, origin }) => [engine, started.findIndex((each) => each.origin === origin)]);
}

test("several engines of one machine are found, and asked for what changes nothing", async () => {
  const found = await look(
    ({ path }) => (path === "/v1/models" ? { json: LIST("vllm") } : { status: 404, json: {} }),
    ({ path }) => (path === "/sdapi/v1/sd-models" ? { json: SD_MODELS } : { status: 404, json: {} }),
  );
  expect(found).toEqual(
    expect.arrayContaining([
      ["vLLM", 0],
      ["Stable Diffusion web UI", 1],
    ]),
  );
  expect(found).toHaveLength(2);
  const methods = new Set(started.flatMap(({ arrived }) => arrived.map(({ method }) => method)));
  expect([...methods]).toEqual(["GET"]);
});

test("a redirect leads nowhere", async () => {
  const elsewhere = await startUpstream(() => ({ json: LIST("vllm") }));
  const headers = { location: `${elsewhere.origin}/v1/models` };
  expect(await look(() => ({ status: 302, headers, body: "" }))).toEqual([]);
  expect(elsewhere.arrived).toEqual([]);
  elsewhere.stop();
});

test.each<[string, Scripted]>([
  ["a page", { headers: { "content-type": "text/html" }, body: "<html>It works!</html>" }],
  ["an answer without end", pour],
  ["JSON of another kind", { json: ["neither", "nor"] }],
  ["no HTTP", MISBEHAVIOURS["does not speak HTTP"]],
])("%s is no engine, and holds nothing up", async (_name, answer) => {
  expect(await look(() => answer)).toEqual([]);
});

test.each(["hangs before the head", "hangs in the body"] as const)(
  "a server that %s is given up within two seconds",
  async (how) => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const looking = lookAt(clock, [
      () => {
        asked.resolve();
        return MISBEHAVIOURS[how];
      },
    ]);
    await asked.promise;
    clock.advance(2_000);
    expect(await looking).toEqual([]);
  },
);

test("large ranges are not searched, and said to be so", async () => {
  const { skipped } = await discover(
    { ports: [], allow: ["10.0.0.0/8", "127.0.0.8/31", "fd00::/64"] },
    { clock: createSystemClock(), signal: new AbortController().signal },
  );
  expect(skipped).toEqual(["10.0.0.0/8", "fd00::/64"]);
});

test.each([
  ["192.168.1.6/30", ["192.168.1.4", "192.168.1.5", "192.168.1.6", "192.168.1.7"]],
  ["10.1.2.3/32", ["10.1.2.3"]],
  ["fd00::2/127", ["[fd00::2]", "[fd00::3]"]],
  ["10.0.0.0/27", undefined],
] as const)("the range %s is these addresses", (range, hosts) => {
  expect(hostsIn(range)).toEqual(hosts as never);
});
