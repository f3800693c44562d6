import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startUpstream } from "../../helpers/scripted-upstream.ts";
import { emptyFolder, type Server, startServer } from "../../helpers/server.ts";
import { tokenOf } from "./service.ts";

/** What the house answers: a file as its result, or why it makes none. */
export type Answers = (prompt: string) => Uint8Array | { readonly refusal: string };

/** A service with a provider of its own, which makes what a test says. */
export interface HouseService {
  readonly server: Server;
  /** A new management token. */
  token(): Promise<string>;
  stop(): Promise<void>;
}

const model = (name: string) => `id: house-image
kind: image
name: ${JSON.stringify(name)}
description: ${JSON.stringify(name)}
modes: [{ id: text-to-image, requires: [] }, { id: image-to-image, requires: [image] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 32000, description: ${JSON.stringify(name)} }
    image_url: { description: ${JSON.stringify(name)} }
media: { image_url: { role: image, media: image } }
price: { lines: [{ sku: house, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: house, upstream_model: style, wording: { inputs: { image: { field: image } } } }
`;

const provider = (base: string) => `provider: house
form: 1
base: ${base}
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}", image: "\${input('image').?base64}" }
  outputs: { base64: "\${body.picture}" }
refusals:
  message: "\${body.?error.?message}"
`;

/** @param name of its model, and all that is said of it */
export async function startHouse(name: string, answers: Answers): Promise<HouseService> {
  const upstream = await startUpstream(({ body }) => {
    const { prompt } = JSON.parse(body.toString()) as { readonly prompt: string };
    const answer = answers(prompt);
    if ("refusal" in answer) return { status: 400, json: { error: { message: answer.refusal } } };
    return { json: { picture: Buffer.from(answer).toString("base64") } };
  });
  const folder = emptyFolder("house");
  for (const [kind, file, content] of [
    ["providers", "house.yaml", provider(upstream.origin)],
    ["models", "house-image.yaml", model(name)],
  ] as const) {
    mkdirSync(join(folder, "svc-data", kind), { recursive: true });
    writeFileSync(join(folder, "svc-data", kind, file), content);
  }
  const env = { HOUSE_KEY: "house-key-0123456789abcdef" };
  const server = await startServer({ folder, args: ["--egress-allow", "127.0.0.0/8"], env });
  return {
    server,
    token: () => tokenOf(server),
    async stop() {
      await server.stop();
      upstream.stop();
    },
  };
}
