import { dataUri, plainImage } from "../support/pictures.ts";
import type { Sent } from "./request.ts";

/** A request in another API's words, and what its clients read in the answer. */
export interface MalformedForeign extends Sent {
  readonly name: string;
  readonly status: number;
  /** Must stand in the body: the caller's own name of the field at fault, or what is wrong. */
  readonly says: string;
}

type Line = readonly [name: string, sent: Sent["body"], status: number, says: string, more?: Partial<Sent>];

const at = (path: string, lines: readonly Line[]): MalformedForeign[] =>
  lines.map(([name, body, status, says, more]) => ({
    ...{ path, name, status, says },
    ...(body !== undefined && { body }),
    ...more,
  }));

const TEXT = { headers: [["Content-Type", "text/plain"]] } as const;
const RPC = { headers: [["Accept", "application/json, text/event-stream"]] } as const;
const basic = (text: string) =>
  ({ headers: [["Authorization", `Basic ${Buffer.from(text).toString("base64")}`]] }) as const;
const scheme = (text: string) => ({ headers: [["Authorization", text]] }) as const;
const LONG = "x".repeat(4_001);
const TASK = "task_01jd0000000000000000000000";

/** Requests of other APIs' clients, beyond what those can send. */
export async function malformedForeign(): Promise<MalformedForeign[]> {
  const picture = dataUri(await plainImage(16, 16));
  return [
    ...[fal, replicate, gemini].flatMap((api) => api(picture)),
    ...[automatic1111, openaiVideos, agents].flatMap((api) => api()),
  ];
}

function fal(picture: string): MalformedForeign[] {
  const good = { prompt: "x", image_size: "square" };
  return [
    ...at("/fal/queue/sandbox-image", [
      ["half a body", '{"prompt":', 422, "JSON"],
      ["a list", "[]", 422, "object"],
      ["text/plain", good, 415, "application/json", TEXT],
      ["no prompt", {}, 422, "prompt"],
      ["a prompt that is a list", { prompt: ["x"] }, 422, "prompt"],
      ["a prompt that is a number", { prompt: 7 }, 422, '"input":7'],
      ["a prompt of 4,001 characters", { prompt: LONG }, 422, "4000"],
      ["an unknown size", { ...good, image_size: "huge" }, 422, "image_size"],
      ["a size without a height", { ...good, image_size: { width: 64 } }, 422, "image_size"],
      ["no pictures", { ...good, num_images: 0 }, 422, "num_images"],
      ["a thousand pictures", { ...good, num_images: 1_000 }, 422, "num_images"],
      ["an address of this machine", { ...good, image_url: "http://127.0.0.1/a.png" }, 422, "image_url"],
      ["sync_mode as text", { ...good, image_url: picture, sync_mode: "yes" }, 422, "sync_mode"],
      ["a field of no model", { ...good, no_such_field: 1 }, 422, "no_such_field"],
      ["another scheme", good, 401, "auth_error", scheme("Token x")],
    ]),
    ...at("/fal/queue/a/b/c/d/e/f", [["six segments", good, 404, "at most 5 segments"]]),
    ...at("/fal/a/b/c/d/e/f", [["six segments to run", good, 404, "url_error"]]),
    ...at("/fal/queue", [["no model at all", good, 404, "not_found"]]),
    ...at("/fal/queue/no-such-model", [["an unknown model", good, 404, "no-such-model"]]),
    ...at(`/fal/queue/sandbox-image/requests/${TASK}/status`, [
      ["an unknown request", undefined, 404, "detail"],
    ]),
  ];
}

function replicate(picture: string): MalformedForeign[] {
  const of = (input: object, more: object = {}) =>
    ({ version: "svc/sandbox-image", input, ...more }) as Sent["body"];
  return [
    ...at("/replicate/v1/predictions", [
      ["half a body", '{"version":', 422, "JSON"],
      ["no input", { version: "svc/sandbox-image" }, 422, "input"],
      ["no version", { input: { prompt: "x" } }, 422, "version"],
      ["a version nobody knows", { version: "0".repeat(64), input: { prompt: "x" } }, 422, "version"],
      ["no name of a version", { version: "", input: { prompt: "x" } }, 422, "version names"],
      ["a version of three parts", { version: "a/b/c", input: { prompt: "x" } }, 422, "version names"],
      ["a version without end", { version: LONG, input: { prompt: "x" } }, 422, "version names"],
      [
        "a version of another model",
        { version: `svc/sandbox-video:${"0".repeat(64)}`, input: {} },
        422,
        "version",
      ],
      ["a prompt that is a number", of({ prompt: 7 }), 422, "input.prompt must be a string"],
      ["a prompt of 4,001 characters", of({ prompt: LONG }), 422, "4000"],
      ["a list as input", { version: "svc/sandbox-image", input: [] }, 422, "input"],
      ["no prompt", of({}), 422, "prompt"],
      ["a field of no model", of({ prompt: "x", no_such_field: 1 }), 422, "no_such_field"],
      ["too many outputs", of({ prompt: "x", num_outputs: 1_000 }), 422, "num_outputs"],
      ["a picture that is none", of({ prompt: "x", image: picture.slice(0, 60) }), 422, "image"],
      ["a webhook of this machine", of({ prompt: "x" }, { webhook: "http://127.0.0.1/" }), 422, "webhook"],
      [
        "an unknown event",
        of({ prompt: "x" }, { webhook_events_filter: ["x"] }),
        422,
        "webhook_events_filter",
      ],
      ["another scheme", of({ prompt: "x" }), 401, "detail", scheme("Key x")],
    ]),
    ...at("/replicate/v1/models/svc/no-such-model/predictions", [
      ["an unknown model", { input: { prompt: "x" } }, 404, "detail"],
    ]),
    ...at(`/replicate/v1/predictions/${TASK}`, [["an unknown prediction", undefined, 404, "detail"]]),
  ];
}

function gemini(picture: string): MalformedForeign[] {
  const turn = (...parts: object[]) => ({ contents: [{ parts }] }) as Sent["body"];
  const base = "/gemini/v1beta/models/sandbox-image";
  return [
    ...at(`${base}:generateContent`, [
      ["half a body", '{"contents":', 400, "JSON"],
      ["no contents", {}, 400, "contents"],
      ["no parts", { contents: [{}] }, 400, "contents"],
      ["a text that is a number", turn({ text: 7 }), 400, "contents[0].parts[0].text"],
      ["a prompt of 4,001 characters", turn({ text: LONG }), 400, "contents"],
      [
        "a picture alone that is none",
        turn({ text: "x" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }),
        400,
        "inlineData",
      ],
      [
        "a picture that is no base64",
        turn({ text: "x" }, { inlineData: { mimeType: "image/png", data: "%" } }),
        400,
        "inlineData",
      ],
      ["a file nobody has", turn({ text: "x" }, { fileData: { fileUri: "files/nothing" } }), 400, "fileUri"],
      ["another scheme", turn({ text: picture.slice(0, 9) }), 401, "UNAUTHENTICATED", basic("a:b")],
    ]),
    ...at(`${base}:predict`, [
      ["no instances", {}, 400, "instances"],
      ["a prompt that is a number", { instances: [{ prompt: 7 }] }, 400, "instances[0].prompt"],
      ["a prompt of 4,001 characters", { instances: [{ prompt: LONG }] }, 400, "instances[0].prompt"],
      [
        "a thousand pictures",
        { instances: [{ prompt: "x" }], parameters: { sampleCount: 1_000 } },
        400,
        "sampleCount",
      ],
      [
        "a field of no model",
        { instances: [{ prompt: "x" }], parameters: { noSuchField: 1 } },
        400,
        "noSuchField",
      ],
    ]),
    ...at("/gemini/v1beta/models/no-such-model:predict", [
      ["an unknown model", { instances: [{ prompt: "x" }] }, 404, "no-such-model"],
    ]),
    ...at("/gemini/v1beta/operations/nothing", [["an unknown operation", undefined, 404, "NOT_FOUND"]]),
  ];
}

function automatic1111(): MalformedForeign[] {
  const good = { prompt: "x", width: 16, height: 16 };
  return [
    ...at("/sdapi/v1/txt2img", [
      ["half a body", '{"prompt":', 422, '"type":"json_invalid"'],
      ["no body", "", 422, '"loc":["body"]'],
      ["a list", "[]", 422, '"loc":["body"]'],
      ["a field given twice", '{"prompt":"x","prompt":"y"}', 422, "prompt"],
      ["a prompt that is a number", { ...good, prompt: 7 }, 422, '"loc":["body","prompt"]'],
      ["a prompt of 4,001 characters", { ...good, prompt: LONG }, 422, "4000"],
      ["a width that is text", { ...good, width: "wide" }, 422, "width"],
      ["a thousand pictures", { ...good, batch_size: 1_000 }, 422, "batch_size"],
      ["tiling", { ...good, tiling: true }, 422, "tiling"],
      ["a refiner", { ...good, refiner_checkpoint: "x" }, 422, "refiner_checkpoint"],
      ["an unknown checkpoint", { ...good, override_settings: { sd_model_checkpoint: "none" } }, 404, "none"],
      ["a key that is wrong", good, 401, "invalid_api_key", basic("svc:sk-svc-wrong")],
      ["Basic without base64", good, 401, "invalid_api_key", scheme("Basic %%%")],
    ]),
    ...at("/sdapi/v1/img2img", [
      ["no picture", good, 422, "init_images"],
      ["a picture that is none", { ...good, init_images: ["AAAA"] }, 422, "init_images"],
      ["a picture that is a number", { ...good, init_images: [7] }, 422, '"loc":["body","init_images",0]'],
    ]),
    ...[
      "/sdapi/v1/png-info",
      "/sdapi/v1/options",
      "/sdapi/v1/extra-single-image",
      "/internal/progress",
    ].flatMap((path) => at(path, [["half a body", "{", 422, '"type":"json_invalid"']])),
    ...at("/sdapi/v1/progress?skip_current_image=maybe", [
      ["a flag that is none", undefined, 422, '"loc":["query","skip_current_image"]'],
    ]),
  ];
}

function openaiVideos(): MalformedForeign[] {
  const good = { model: "sandbox-video", prompt: "x" };
  return [
    ...at("/compat/v1/videos", [
      ["half a body", '{"model":', 400, "JSON"],
      ["a prompt that is a number", { ...good, prompt: 7 }, 400, '"param":"prompt"'],
      ["a prompt of 4,001 characters", { ...good, prompt: LONG }, 400, '"param":"prompt"'],
      ["more seconds than there are", { ...good, seconds: "1000" }, 400, '"param":"seconds"'],
      ["seconds that are none", { ...good, seconds: "long" }, 400, '"param":"seconds"'],
      [
        "a reference that is no picture",
        { ...good, input_reference: { image_url: "data:," } },
        400,
        "image_url",
      ],
    ]),
    ...at(`/compat/v1/videos/${TASK}/remix`, [["an unknown video", { prompt: "x" }, 404, "not_found"]]),
    ...at(`/compat/v1/videos/${TASK}/content?variant=none`, [
      ["an unknown variant", undefined, 400, "variant"],
    ]),
  ];
}

function agents(): MalformedForeign[] {
  const call = (name: string, args: object) =>
    ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }) as Sent["body"];
  return at("/mcp", [
    ["half a body", '{"jsonrpc":', 400, "-32700", RPC],
    ["no method", { jsonrpc: "2.0", id: 1 }, 400, "error", RPC],
    [
      "a body without Accept",
      call("get_task", { task_id: TASK }),
      406,
      "Accept",
      { headers: [["Accept", "text/html"]] },
    ],
  ]);
}
