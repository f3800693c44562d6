/** What a snippet is made of. */
export interface Given {
  /** The service's address without a slash at its end. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
}

/** How a program is told of this service. */
export interface Snippet {
  readonly id: string;
  /** Of the program or the library. */
  readonly name: string;
  /** Where the text goes. */
  readonly place: string;
  readonly text: (given: Given) => string;
}

const PROMPT = "a lighthouse at dusk";

/** Ready for copying, the most used first. Programs' settings were read in their sources and manuals (checked 2026-11-24). */
export const SNIPPETS: readonly Snippet[] = [
  {
    id: "curl",
    name: "curl",
    place: "In a terminal. The answer has the picture's address.",
    text: ({ origin, key, model }) => `curl -s ${origin}/compat/v1/images/generations \\
  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, prompt: PROMPT, response_format: "url" })}'`,
  },
  {
    id: "openai-js",
    name: "openai (JavaScript)",
    place: "npm install openai",
    text: ({ origin, key, model }) => `import { writeFile } from "node:fs/promises";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${text(`${origin}/compat/v1`)}, apiKey: ${text(key)} });
const { data } = await client.images.generate({
  model: ${text(model)},
  prompt: ${text(PROMPT)},
  response_format: "b64_json",
});
await writeFile("lighthouse.png", Buffer.from(data[0].b64_json, "base64"));`,
  },
  {
    id: "openai-python",
    name: "openai (Python)",
    place: "pip install openai",
    text: ({ origin, key, model }) => `import base64
from openai import OpenAI

client = OpenAI(base_url=${text(`${origin}/compat/v1`)}, api_key=${text(key)})
made = client.images.generate(
    model=${text(model)}, prompt=${text(PROMPT)}, response_format="b64_json"
)
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(made.data[0].b64_json))`,
  },
  {
    id: "ai",
    name: "AI SDK (ai)",
    place: "npm install ai @ai-sdk/openai-compatible",
    text: ({ origin, key, model }) => `import { writeFile } from "node:fs/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage } from "ai";

const svc = createOpenAICompatible({ name: "svc", baseURL: ${text(`${origin}/compat/v1`)}, apiKey: ${text(key)} });
const { image } = await generateImage({ model: svc.imageModel(${text(model)}), prompt: ${text(PROMPT)} });
await writeFile("lighthouse.png", image.uint8Array);`,
  },
  {
    id: "open-webui",
    name: "Open WebUI",
    place: "Environment of its container, or Admin Panel → Settings → Images with the same values.",
    text: ({ origin, key, model }) => `ENABLE_IMAGE_GENERATION=true
IMAGE_GENERATION_ENGINE=openai
IMAGES_OPENAI_API_BASE_URL=${origin}/compat/v1
IMAGES_OPENAI_API_KEY=${key}
IMAGE_GENERATION_MODEL=${model}`,
  },
  {
    id: "librechat",
    name: "LibreChat",
    place: "Its .env; then add the tool “OpenAI Image Tools” to an agent.",
    text: ({ origin, key, model }) => `IMAGE_GEN_OAI_API_KEY=${key}
IMAGE_GEN_OAI_BASEURL=${origin}/compat/v1
IMAGE_GEN_OAI_MODEL=${model}`,
  },
  {
    id: "n8n",
    name: "n8n",
    place:
      "A credential of the kind “OpenAI”; then the node OpenAI → Generate an image, with the model by its id.",
    text: ({ origin, key, model }) => `API Key:  ${key}
Base URL: ${origin}/compat/v1
Model:    By ID, ${model}`,
  },
  {
    id: "svc",
    name: "svc",
    place: "In a terminal, with this service's own program.",
    text: ({ origin, key, model }) => `export SVC_SERVER=${origin} SVC_API_KEY=${key}
svc image "${PROMPT}" -m ${model} -o lighthouse.png`,
  },
];

/** A text as JavaScript and Python both write it. */
function text(value: string): string {
  return JSON.stringify(value);
}
