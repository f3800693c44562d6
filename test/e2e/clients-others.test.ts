import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { download } from "./support/api.ts";
import { ALIASES } from "./support/customer.ts";
import { decode, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

let server: Server;
let base: string;

beforeAll(async () => {
  server = await startServer({ args: ALIASES });
  base = `${server.url}/compat/v1`;
});

afterAll(stopServers);

interface ImagesAnswer {
  readonly data: readonly { readonly b64_json?: string; readonly url?: string }[];
  readonly usage: Readonly<Record<string, unknown>>;
}

async function send(url: string, body: Readonly<Record<string, unknown>> | FormData): Promise<ImagesAnswer> {
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.firstKey()}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${text}`);
  return JSON.parse(text) as ImagesAnswer;
}

const inline = ({ data }: ImagesAnswer) => decode(Buffer.from(data[0]?.b64_json ?? "", "base64"));

describe("a client as LangChain's", () => {
  const body = {
    model: "dall-e-3",
    prompt: "a fox",
    n: 1,
    size: "1024x1024",
    quality: "standard",
  } as const;

  test("reads URLs when the address it was given says so", async () => {
    const client = new OpenAI({
      baseURL: base,
      apiKey: server.firstKey(),
      defaultQuery: { response_format: "url" },
    });
    const { data = [] } = await client.images.generate(body);
    expect(data.map((image) => Object.keys(image))).toEqual([["url"]]);
    expect(await decode(await download(data[0]?.url))).toMatchObject({ width: 1024, height: 1024 });
  });

  test("gets images inside the answer otherwise", async () => {
    const client = new OpenAI({ baseURL: base, apiKey: server.firstKey() });
    const { data = [] } = await client.images.generate(body);
    expect(data.map((image) => Object.keys(image))).toEqual([["b64_json"]]);
  });
});

describe("a client as LibreChat's", () => {
  test("generates with auto everywhere", async () => {
    const answer = await send(`${base}/images/generations`, {
      model: "gpt-image-1",
      prompt: "a fox",
      n: 1,
      background: "auto",
      output_format: "png",
      quality: "auto",
      size: "auto",
    });
    expect(await inline(answer)).toMatchObject({ format: "png", width: 1024, height: 1024 });
  });

  test("edits with files as image[], which are named anyhow and say nothing of their type", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({
      model: "gpt-image-1",
      prompt: "together",
      quality: "auto",
      size: "auto",
    })) {
      form.append(name, value);
    }
    for (const colour of ["red", "lime"]) {
      const bytes = await plainImage(64, 64, { colour, format: "webp" });
      form.append("image[]", new Blob([new Uint8Array(bytes)]), "blob");
    }
    expect(await inline(await send(`${base}/images/edits`, form))).toMatchObject({ width: 64, height: 64 });
  });
});

describe("a client as Open WebUI's", () => {
  test("generates at an address with a slash too many and a query that means nothing here", async () => {
    const answer = await send(`${base}//images/generations?api-version=2024-02-01`, {
      model: "gpt-image-1",
      prompt: "a fox",
      n: 1,
      size: "auto",
      response_format: "b64_json",
    });
    expect(await inline(answer)).toMatchObject({ format: "png", width: 1024, height: 1024 });
  });

  test("edits with its texts first and one image", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "gpt-image-1", prompt: "in autumn", n: "1" })) {
      form.append(name, value);
    }
    const bytes = await plainImage(96, 64);
    form.append("image", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "image.png");
    expect(await inline(await send(`${base}/images/edits`, form))).toMatchObject({ width: 96, height: 64 });
  });
});

test("usage has the figures of both generations of that API, as numbers", async () => {
  const { usage } = await send(`${base}/images/generations`, {
    model: "dall-e-3",
    prompt: "x",
    size: "64x64",
  });
  const parts = { text_tokens: expect.any(Number), image_tokens: expect.any(Number) };
  expect(usage).toEqual({
    prompt_tokens: expect.any(Number),
    completion_tokens: expect.any(Number),
    total_tokens: expect.any(Number),
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
    input_tokens_details: parts,
    output_tokens_details: parts,
  });
});
