import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exampleFor } from "../../cli/format/model-example.ts";
import {
  refusal,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  success,
} from "./scripted-server.ts";
import { emptyFolder, type RunOptions, svc } from "./support.ts";

const CREATE = "/v1/images/generations";
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);

const PROPERTIES = {
  model: { type: "string" },
  prompt: { type: "string", maxLength: 40 },
  n: { type: "integer", minimum: 1, maximum: 4 },
};
interface Invented {
  readonly id: string;
  readonly cost: string;
  readonly properties?: object;
  readonly modes?: readonly string[];
  readonly inputs?: readonly object[];
  readonly available?: boolean;
  readonly kind?: string;
}

/** A server with these models, each request to which costs the same; what is made is one PNG. */
function serve(models: readonly Invented[], more: Script = {}) {
  const form = ({
    id,
    kind = "image",
    modes = ["text-to-image"],
    inputs = [],
    available = true,
  }: Invented) => ({
    ...{ id, kind, modes, inputs, available },
  });
  const schemaOf = ({ properties }: Invented) => ({
    ...{ type: "object", required: ["model", "prompt"], additionalProperties: false },
    properties: { ...PROPERTIES, ...properties },
  });
  return startScriptedServer({
    "GET /v1/models": () => success({ models: models.map(form) }),
    ...Object.fromEntries(
      models.map((each) => [
        `GET /v1/models/${each.id}`,
        () => success({ ...form(each), schema: schemaOf(each) }),
      ]),
    ),
    "POST /v1/pricing/estimate": ({ body }) => {
      const { model } = body as { model: string };
      const max_cost = models.find(({ id }) => id === model)?.cost;
      return success({
        model,
        status: "exact",
        currency: "USD",
        min_cost: max_cost,
        max_cost,
        line_items: [],
      });
    },
    [`POST ${CREATE}`]: () => success({ task_id: "task_1" }),
    "GET /v1/images/status/task_1": ({ headers }) =>
      success({
        ...{ task_id: "task_1", status: "completed", progress: 100 },
        result: [`http://${headers.get("host")}/assets/asset_1.png`],
      }),
    "GET /assets/asset_1.png": () => new Response(PNG, { headers: { "Content-Type": "image/png" } }),
    ...more,
  });
}

const run = (server: ScriptedServer, args: readonly string[], options: RunOptions = {}) =>
  svc(args, { ...options, env: { SVC_SERVER: server.url, SVC_API_KEY: "sk-svc-test" } });
const created = (server: ScriptedServer) => server.at(CREATE).map(({ body }) => body);

const SANDBOX = { id: "sandbox-image", cost: "0.000001" };
const DEAR = { id: "dear-1", cost: "0.211000" };
const CHEAP = { id: "cheap-1", cost: "0.003000" };
const SQUARE = { id: "square-1", cost: "0.040000", properties: { size: { enum: ["64x64"] } } };

describe("svc image", () => {
  test("takes the cheapest model that takes the request, says so, and saves under the prompt's name", async () => {
    const cwd = emptyFolder();
    using server = serve([SANDBOX, DEAR, CHEAP, SQUARE]);
    const { exitCode, stdout, stderr } = await run(server, ["image", "A lighthouse at dusk"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "./a-lighthouse-at-dusk.png\n" });
    expect(stderr).toStartWith(
      "model  cheap-1  ~0.003 USD  (the cheapest of 4 that take this; -m names another)\n",
    );
    expect(created(server)).toEqual([{ model: "cheap-1", prompt: "A lighthouse at dusk" }]);
    expect(readFileSync(join(cwd, "a-lighthouse-at-dusk.png"))).toEqual(Buffer.from(PNG));
  });

  test("never replaces a file of that name", async () => {
    const cwd = emptyFolder();
    using server = serve([CHEAP]);
    for (let times = 0; times < 3; times++) await run(server, ["image", "Dusk"], { cwd });
    expect(readdirSync(cwd).sort()).toEqual(["dusk-2.png", "dusk-3.png", "dusk.png"]);
  });

  test("passes over models that do not take the request, that are not available, and that do something else", async () => {
    using server = serve([
      { ...CHEAP, id: "gone-1", available: false },
      { ...CHEAP, id: "editor-1", modes: ["image-to-image"] },
      { ...CHEAP, id: "film-1", kind: "video", modes: ["text-to-video"] },
      ...[SANDBOX, CHEAP, SQUARE],
    ]);
    const { stderr } = await run(server, ["image", "x", "-i", "size=64x64", "-q"]);
    expect([stderr, created(server)]).toEqual(["", [{ model: "square-1", prompt: "x", size: "64x64" }]]);
    expect(server.seen.map(({ path }) => path).filter((path) => /gone|editor|film/.test(path))).toEqual([]);
  });

  test("takes the sandbox where there is nothing else, and the model that is named wherever", async () => {
    using server = serve([SANDBOX, DEAR]);
    await run(server, ["image", "x", "-m", "sandbox-image"]);
    expect(created(server)).toEqual([{ model: "sandbox-image", prompt: "x" }]);
    using alone = serve([SANDBOX]);
    const { stderr } = await run(alone, ["image", "x"]);
    expect(stderr).toContain(
      "sandbox-image  ~0.000001 USD  (the only one that takes this; -m names another)",
    );
  });

  test("with --dry-run tells the estimate, and makes nothing", async () => {
    const cwd = emptyFolder();
    using server = serve([CHEAP]);
    const { stdout } = await run(server, ["image", "x", "--dry-run", "--json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ model: "cheap-1", max_cost: "0.003000" });
    expect([created(server), readdirSync(cwd)]).toEqual([[], []]);
  });

  test.each([
    [["image"], "There is no prompt"],
    [["image", "x".repeat(41)], "The prompt must have at most 40 characters; got 41."],
    [["image", "x", "-i", "siez=1"], 'Unknown field "-i siez".'],
    [["image", "x", "-m", "film-1"], "film-1 makes videos, not images."],
    [["video", "x", "-m", "cheap-1"], "`svc image PROMPT -m cheap-1` makes an image."],
    [["image", "x", "--timeout", "soon"], '"soon" is not a duration'],
  ])("%p is refused before anything is made", async (args, message) => {
    using server = serve([CHEAP, { id: "film-1", cost: "1.000000", kind: "video", modes: [] }]);
    const { exitCode, stderr } = await run(server, args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(created(server)).toEqual([]);
  });

  test("says so when no model does it, and ends with other trouble as it is", async () => {
    using empty = serve([{ ...CHEAP, modes: ["image-to-image"] }]);
    const none = await run(empty, ["image", "x"]);
    expect([none.exitCode, none.stderr]).toEqual([5, expect.stringContaining("makes images from text")]);
    const denied = () => refusal(403, "permission_denied", "This key may not.");
    using server = serve([CHEAP, SANDBOX], { "POST /v1/pricing/estimate": denied });
    expect((await run(server, ["image", "x"])).exitCode).toBe(4);
  });

  test("does without an estimate where the server has none", async () => {
    const unknown = () => refusal(404, "not_found", "There is nothing here.");
    using server = serve([CHEAP], { "POST /v1/pricing/estimate": unknown });
    expect((await run(server, ["image", "x", "-m", "cheap-1"])).stderr).toStartWith("model  cheap-1\n");
  });
});

describe("svc edit", () => {
  const IMAGE = { field: "image_url", role: "image", media: "image" };
  const IMAGES = { field: "image_urls", role: "image", media: "image" };
  const MASK = { field: "mask_url", role: "mask", media: "image" };
  const ONE = {
    ...CHEAP,
    ...{ modes: ["image-to-image"], inputs: [IMAGE], properties: { image_url: { type: "string" } } },
  };
  const MANY = {
    ...DEAR,
    modes: ["image-to-image", "image-to-image-with-mask"],
    inputs: [IMAGES, MASK],
    properties: { image_urls: { type: "array" }, mask_url: { type: "string" } },
  };
  const URI = `data:image/png;base64,${PNG.toBase64()}`;
  const folder = () => {
    const cwd = emptyFolder();
    for (const name of ["a.png", "b.png"]) writeFileSync(join(cwd, name), PNG);
    writeFileSync(join(cwd, "notes.txt"), "hello");
    return cwd;
  };

  test("sends the images in their order, to the cheapest model that takes so many", async () => {
    using server = serve([MANY, ONE]);
    const cwd = folder();
    await run(server, ["edit", "a.png", "in blue"], { cwd });
    await run(server, ["edit", "a.png", "https://x.example/b.png", "in blue"], { cwd });
    await run(server, ["edit", "a.png", "in blue", "--mask", "b.png"], { cwd });
    await run(server, ["edit", "a.png", "-p", "in blue"], { cwd });
    expect(created(server)).toEqual([
      { model: "cheap-1", prompt: "in blue", image_url: URI },
      { model: "dear-1", prompt: "in blue", image_urls: [URI, "https://x.example/b.png"] },
      { model: "dear-1", prompt: "in blue", image_urls: [URI], mask_url: URI },
      { model: "cheap-1", prompt: "in blue", image_url: URI },
    ]);
    // Prices do not depend on media.
    expect(
      server.at("/v1/pricing/estimate").every(({ body }) => !JSON.stringify(body).includes("base64")),
    ).toBe(true);
  });

  test.each([
    [["edit", "a.png"], "Give the images and then what to change"],
    [["edit", "notes.txt", "in blue"], "notes.txt is no image svc knows (PNG, JPEG, WebP)."],
    [["edit", "absent.png", "in blue"], "Cannot read absent.png: there is no such file"],
    [["edit", "a.png", "b.png", "in blue", "-m", "cheap-1"], "cheap-1 takes one image, and there are 2."],
    [["edit", "a.png", "in blue", "--mask", "b.png", "-m", "cheap-1"], "cheap-1 takes no --mask."],
  ])("%p is refused", async (args, message) => {
    using server = serve([ONE]);
    const { exitCode, stderr } = await run(server, args, { cwd: folder() });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("svc estimate", () => {
  test("tells what a request comes to, in words and as it is", async () => {
    const answer = {
      ...{ model: "cheap-1", status: "range", currency: "USD", min_cost: "0.006000", max_cost: "0.211000" },
      line_items: [
        { sku: "high", quantity: 1, unit_price: "0.211000", amount: "0.211000", detail: "1 output" },
      ],
      assumptions: [{ field: "size", value: "auto", source: "default" }],
      ...{ missing: ["prompt"], affordable: false, limited_by: "balance" },
      estimated_seconds: { p50: 4.2, p90: 12 },
    };
    using server = serve([CHEAP], { "POST /v1/pricing/estimate": () => success(answer) });
    const { stdout } = await run(server, ["estimate", "-m", "cheap-1", "-n", "2"]);
    expect(stdout).toBe(
      [
        'model\tcheap-1\ncost\t0.006 to 0.211 USD\nassumed\tsize "auto"\nmissing\tprompt\n',
        "affordable\tno: the account's balance is too small\nusually takes\t4.2 s, nine of ten at most 12 s\n",
        "\nhigh\t0.211000\t0.211000\t1 output\n",
      ].join(""),
    );
    expect(server.at("/v1/pricing/estimate")[0]?.body).toEqual({ model: "cheap-1", n: 2 });
    const json = await run(server, ["estimate", "-m", "cheap-1", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(answer);
  });
});

test("svc task retry makes the task again with one key, and saves what comes of it", async () => {
  const cwd = emptyFolder();
  using server = serve([CHEAP], {
    "GET /v1/images/status/task_0": () => success({ task_id: "task_0", status: "failed", model: "cheap-1" }),
    "POST /v1/tasks/task_0/retry": (_, times) =>
      times === 1
        ? refusal(503, "service_unavailable", "Full.", { "Retry-After": "0" })
        : success({ task_id: "task_1" }, { "X-Request-Cost": "0.003000" }),
  });
  const { stdout } = await run(server, ["task", "retry", "task_0", "-o", "again.png"], { cwd });
  expect(stdout).toBe("./again.png\n");
  const keys = server.at("/v1/tasks/task_0/retry").map(({ headers }) => headers.get("idempotency-key"));
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  const told = await run(server, ["task", "retry", "task_0", "--json", "--idempotency-key", "k"]);
  expect(JSON.parse(told.stdout)).toEqual({
    ...{ task_id: "task_1", kind: "image", model: "cheap-1", cost: "0.003000", replayed: false },
    ...{ idempotency_key: "k", request_id: "req_1" },
  });
});

describe("a server that sends commands for terminals", () => {
  const EVIL = "\u001b]0;owned\u0007\u202e";
  const evil = {
    id: `evil${EVIL}`,
    kind: "image",
    name: EVIL,
    description: EVIL,
    modes: [EVIL],
    available: true,
  };
  const schema = {
    type: "object",
    required: ["$(touch owned)"],
    properties: { [EVIL]: { description: EVIL, default: EVIL } },
  };
  const script: Script = {
    "GET /v1/models": () => success({ models: [{ ...evil, modes: ["text-to-image"] }] }),
    "GET /v1/models/evil-1": () => success({ ...evil, schema }),
    "POST /v1/pricing/estimate": () => success({ model: EVIL, currency: EVIL, max_cost: EVIL, status: EVIL }),
    "GET /v1/images/status/task_1": () =>
      success({
        ...{ task_id: "task_1", status: "completed", model: EVIL, result: [`http://x/${EVIL}`] },
        ...{
          usage: { cost: EVIL, currency: EVIL },
          result_issues: [{ index: 0, code: EVIL, message: EVIL }],
        },
      }),
    "GET /v1/images/status/task_2": () =>
      success({ task_id: "task_2", status: "failed", error_code: "X", error_message: EVIL }),
    "GET /v1/images/status/task_3": () => success({ task_id: `task_3${EVIL}`, status: EVIL }),
    "GET /v1/tasks": () => success({ tasks: [{ task_id: "task_1", status: "x", model: EVIL }], next: null }),
    "POST /v1/tasks/task_1/cancel": () => refusal(409, "task_not_cancellable", EVIL),
  };

  test.each([
    ...[
      ["models", "list"],
      ["models", "show", "evil-1"],
      ["models", "show", "evil-1", "--plain"],
    ],
    ...[
      ["estimate", "-m", "evil-1"],
      ["task", "get", "task_1"],
      ["task", "wait", "task_1"],
    ],
    ...[
      ["task", "wait", "task_2"],
      ["task", "wait", "task_3"],
      ["task", "list"],
      ["task", "cancel", "task_1"],
    ],
    ...[
      ["task", "open", "task_1"],
      ["task", "download", "task_1"],
      ["image", "x", "--dry-run"],
    ],
  ])("is not obeyed: %p %p %p", async (...args) => {
    using server = startScriptedServer(script);
    const { stdout, stderr } = await run(server, args);
    expect(`${stdout}${stderr}`.length).toBeGreaterThan(0);
    expect(
      [...EVIL]
        .filter((each) => each < " " || each > "~")
        .filter((each) => `${stdout}${stderr}`.includes(each)),
    ).toEqual([]);
  });

  test("gets nothing into the example that a shell would run", () => {
    const example = exampleFor({
      ...{ id: "a; touch owned", kind: "image", modes: [], inputs: [], isAvailable: true },
      schema: { required: ["$(touch owned)"], properties: {} },
    });
    expect(example).toBe("svc task submit -m 'a; touch owned' -i '$(touch owned)=…' -o .");
  });
});
