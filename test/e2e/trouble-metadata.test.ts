import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { CANARY, contains, insert, png, pngChunk, text } from "../helpers/media.ts";
import { startUpstream } from "../helpers/scripted-upstream.ts";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi, download } from "./support/api.ts";
import { decode } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const closing: (() => void)[] = [];
afterAll(async () => {
  for (const close of closing) close();
  await stopServers();
});

const HEADER_ENDS = 33;
const parameters = pngChunk("tEXt", text(`parameters\0${CANARY}, Model: secret.safetensors`));
const manifest = pngChunk("caBX", text("jumb-c2pa"));

/** The file that comes of a picture that an engine made. */
async function resultOf(made: Uint8Array, args: readonly string[]): Promise<Uint8Array> {
  const base64 = Buffer.from(made).toString("base64");
  const openai = await startUpstream(() => ({ json: { data: [{ b64_json: base64 }], size: "1024x1024" } }));
  closing.push(openai.stop);
  const server = await startServer({
    env: { OPENAI_API_KEY: "sk-upstream-0123456789", SVC_PROVIDERS_OPENAI_BASE_URL: openai.origin },
    args: ["--no-sandbox", ...args],
  });
  const api = createApi(server.url, server.firstKey());
  const task = await api.make({ model: "gpt-image-2", prompt: "x", size: "1024x1024", quality: "low" });
  expect(task.status).toBe("completed");
  return download(task.result?.[0] ?? "");
}

test.each([
  ["is taken out", [], [], false],
  ["stays where the operator keeps it", ["--outputs-metadata", "keep"], [], true],
  ["stays in a file that its maker signed", [], [manifest], true],
])("what an engine writes of prompt and model into a picture %s", async (_what, args, signature, stays) => {
  const plain = await png(16, 16);
  const made = insert(plain, HEADER_ENDS, parameters, ...signature);
  const result = await resultOf(made, args);
  expect(contains(result, CANARY)).toBe(stays);
  expect(Buffer.compare(result, stays ? made : plain)).toBe(0);
  expect(await decode(result)).toMatchObject({ width: 16, height: 16 });
});
