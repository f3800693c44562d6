import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { MAX_JSON_TEXT_BYTES } from "../../../src/domain/limits.ts";
import { png } from "../../helpers/media.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

/* What a model and this service take at most, at the limit and one beyond, in the words of each API. */

setDefaultTimeout(60_000);

/** Of sandbox-image. */
const MOST_CHARACTERS = 4000;
const MOST_IMAGES = 10;
const SOON = { delay_ms: 0 };
const LABELS = { sandbox: JSON.stringify(SOON) };

let service: PublishedService;
let picture: string;

beforeAll(async () => {
  service = await startPublished({ SVC_SCHEDULER_CONCURRENCY: "8" });
  picture = Buffer.from(await png(16, 16)).toString("base64");
});

afterAll(() => service.stop());

interface Facade {
  readonly path: string | ((images: number) => string);
  readonly body: (prompt: string, images: readonly string[]) => object;
  readonly accepted: number;
  readonly refused: number;
  /** How it names what is too long, and what is one too many. */
  readonly prompt: string;
  readonly images: string;
  readonly mostImages?: number;
  /** What a refusal of too large a body has, in that API's words. */
  readonly tooLarge: RegExp;
}

const uris = (images: readonly string[]) => images.map((each) => `data:image/png;base64,${each}`);
const some = (name: string, images: readonly string[]) =>
  images.length === 0 ? {} : { [name]: uris(images) };

const facades: Readonly<Record<string, Facade>> = {
  fal: {
    path: "/fal/queue/svc/sandbox-image",
    body: (prompt, images) => ({ prompt, ...some("image_urls", images), sandbox: SOON }),
    ...{ accepted: 200, refused: 422, prompt: '"prompt"', images: "image_urls", tooLarge: /"detail"/ },
  },
  Replicate: {
    path: "/replicate/v1/models/svc/sandbox-image/predictions",
    body: (prompt, images) => ({ input: { prompt, ...some("input_images", images), sandbox: SOON } }),
    ...{ accepted: 201, refused: 422, prompt: '"input.prompt"', images: "input.input_images" },
    tooLarge: /"title":"Content too large"/,
  },
  Gemini: {
    path: "/gemini/v1beta/models/sandbox-image:generateContent",
    body: (text, images) => ({
      contents: [
        { parts: [{ text }, ...images.map((data) => ({ inlineData: { mimeType: "image/png", data } }))] },
      ],
      labels: LABELS,
    }),
    ...{ accepted: 200, refused: 400, prompt: "contents", images: "contents" },
    tooLarge: /"status":"INVALID_ARGUMENT"/,
  },
  AUTOMATIC1111: {
    path: (images) => `/sdapi/v1/${images === 0 ? "txt" : "img"}2img`,
    body: (prompt, images) => ({
      prompt,
      width: 64,
      height: 64,
      ...(images.length > 0 && { init_images: images }),
    }),
    ...{ accepted: 200, refused: 422, prompt: '"prompt"', images: "init_images", mostImages: 1 },
    tooLarge: /"error":"request_too_large"/,
  },
  "OpenAI's videos": {
    path: "/compat/v1/videos",
    body: (prompt) => ({ model: "sandbox-video", prompt, seconds: "1" }),
    ...{ accepted: 200, refused: 400, prompt: '"param":"prompt"', images: "", mostImages: 0 },
    tooLarge: /"code":"request_too_large"/,
  },
  MCP: {
    path: "/mcp",
    body: (prompt, images) => ({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: {
        name: images.length === 0 ? "generate_image" : "edit_image",
        arguments: { model: "sandbox-image", prompt, ...some("images", images), wait: 0, sandbox: SOON },
      },
    }),
    ...{ accepted: 200, refused: 200, prompt: '\\"param\\":\\"prompt\\"', images: '\\"param\\":\\"images' },
    tooLarge: /"code":"request_too_large"/,
  },
};

async function send({ path, body }: Facade, prompt: string, images: readonly string[], bytes?: number) {
  const text = JSON.stringify(body(prompt, images));
  const response = await fetch(service.url + (typeof path === "string" ? path : path(images.length)), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${service.key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: text.padEnd(bytes ?? 0),
  });
  return { status: response.status, text: await response.text() };
}

/** Whether a result of a tool says that it was refused. */
const isRefused = ({ text }: { readonly text: string }) => text.includes('"isError":true');

describe.each(Object.entries(facades))("%s", (_, facade) => {
  const { accepted, refused, prompt, images, mostImages = MOST_IMAGES, tooLarge } = facade;

  test("takes a prompt as long as the model takes it, and names one that is a character longer", async () => {
    const whole = await send(facade, "x".repeat(MOST_CHARACTERS), []);
    expect([whole.status, isRefused(whole)]).toEqual([accepted, false]);
    const longer = await send(facade, "x".repeat(MOST_CHARACTERS + 1), []);
    expect([longer.status, longer.text]).toEqual([refused, expect.stringContaining(prompt)]);
    expect(longer.text).toContain(String(MOST_CHARACTERS));
  });

  test.skipIf(mostImages === 0)("takes as many pictures as the model takes, and names one more", async () => {
    const all = await send(facade, "x", Array(mostImages).fill(picture));
    expect([all.status, isRefused(all)]).toEqual([accepted, false]);
    const more = await send(facade, "x", Array(mostImages + 1).fill(picture));
    expect([more.status, more.text]).toEqual([refused, expect.stringContaining(images)]);
  });

  test("takes a body as large as the service takes it, and none that is a byte larger", async () => {
    const whole = await send(facade, "x", [], MAX_JSON_TEXT_BYTES);
    expect([whole.status, isRefused(whole)]).toEqual([accepted, false]);
    const larger = await send(facade, "x", [], MAX_JSON_TEXT_BYTES + 1);
    expect([larger.status, larger.text]).toEqual([413, expect.stringMatching(tooLarge)]);
  });
});
