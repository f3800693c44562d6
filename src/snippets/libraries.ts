import { keyInJs, keyInPython, keyInShell, PROMPT, quoted, type Snippet } from "./snippet.ts";

/** Libraries and programs of the command line. */
export const LIBRARIES: readonly Snippet[] = [
  {
    id: "curl",
    name: "curl",
    place: "In a terminal. The answer has the picture's address.",
    language: "sh",
    text: (given) => `curl -s ${given.origin}/compat/v1/images/generations \\
  -H "Authorization: Bearer ${keyInShell(given)}" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model: given.model, prompt: PROMPT, response_format: "url" })}'`,
  },
  {
    id: "openai-js",
    name: "openai (JavaScript)",
    place: "npm install openai",
    language: "js",
    text: (given) => `import { writeFile } from "node:fs/promises";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${quoted(`${given.origin}/compat/v1`)}, apiKey: ${keyInJs(given)} });
const { data } = await client.images.generate({
  model: ${quoted(given.model)},
  prompt: ${quoted(PROMPT)},
  response_format: "b64_json",
});
await writeFile("lighthouse.png", Buffer.from(data[0].b64_json, "base64"));`,
  },
  {
    id: "openai-python",
    name: "openai (Python)",
    place: "pip install openai",
    language: "python",
    text: (given) => `import base64
import os
from openai import OpenAI

client = OpenAI(base_url=${quoted(`${given.origin}/compat/v1`)}, api_key=${keyInPython(given)})
made = client.images.generate(
    model=${quoted(given.model)}, prompt=${quoted(PROMPT)}, response_format="b64_json"
)
with open("lighthouse.png", "wb") as file:
    file.write(base64.b64decode(made.data[0].b64_json))`,
  },
  {
    id: "ai-sdk",
    name: "AI SDK (ai)",
    place: "npm install ai @ai-sdk/openai-compatible",
    language: "js",
    text: (given) => `import { writeFile } from "node:fs/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateImage } from "ai";

const svc = createOpenAICompatible({ name: "svc", baseURL: ${quoted(`${given.origin}/compat/v1`)}, apiKey: ${keyInJs(given)} });
const { image } = await generateImage({ model: svc.imageModel(${quoted(given.model)}), prompt: ${quoted(PROMPT)} });
await writeFile("lighthouse.png", image.uint8Array);`,
  },
  {
    id: "langchain",
    name: "LangChain",
    place: "pip install langchain-core openai. A tool for any agent.",
    language: "python",
    text: (given) => `import os
from langchain_core.tools import tool
from openai import OpenAI

client = OpenAI(base_url=${quoted(`${given.origin}/compat/v1`)}, api_key=${keyInPython(given)})

@tool
def draw(prompt: str) -> str:
    """Draws a picture and returns its address."""
    made = client.images.generate(model=${quoted(given.model)}, prompt=prompt, response_format="url")
    return made.data[0].url`,
  },
  {
    id: "fal",
    name: "fal (JavaScript)",
    place: "npm install @fal-ai/client",
    language: "js",
    facade: "fal",
    text: (given) => `import { writeFile } from "node:fs/promises";
import { fal } from "@fal-ai/client";

fal.config({
  credentials: ${keyInJs(given)},
  proxyUrl: { url: ${quoted(`${given.origin}/fal`)}, when: "always" },
});
const { data } = await fal.subscribe(${quoted(`svc/${given.model}`)}, { input: { prompt: ${quoted(PROMPT)} } });
await writeFile("lighthouse.png", await (await fetch(data.images[0].url)).bytes());`,
  },
  {
    id: "replicate",
    name: "Replicate (JavaScript)",
    place: "npm install replicate",
    language: "js",
    facade: "replicate",
    text: (given) => `import { writeFile } from "node:fs/promises";
import Replicate from "replicate";

const replicate = new Replicate({ baseUrl: ${quoted(`${given.origin}/replicate/v1`)}, auth: ${keyInJs(given)} });
const [picture] = await replicate.run(${quoted(`svc/${given.model}`)}, { input: { prompt: ${quoted(PROMPT)} } });
const answer = await fetch(String(picture));
await writeFile("lighthouse.png", Buffer.from(await answer.arrayBuffer()));`,
  },
  {
    id: "genai",
    name: "Google Gen AI (JavaScript)",
    place: "npm install @google/genai",
    language: "js",
    facade: "gemini",
    text: (given) => `import { writeFile } from "node:fs/promises";
import { GoogleGenAI } from "@google/genai";

const ai = new GoogleGenAI({ apiKey: ${keyInJs(given)}, httpOptions: { baseUrl: ${quoted(`${given.origin}/gemini`)} } });
const made = await ai.models.generateContent({ model: ${quoted(given.model)}, contents: ${quoted(PROMPT)} });
const picture = made.candidates[0].content.parts.find((part) => part.inlineData);
await writeFile("lighthouse.png", Buffer.from(picture.inlineData.data, "base64"));`,
  },
  {
    id: "svc",
    name: "svc",
    place: "In a terminal, with this service's own program.",
    language: "sh",
    text: (
      given,
    ) => `export SVC_SERVER=${given.origin}${given.key === undefined ? "" : ` SVC_API_KEY=${given.key}`}
svc image "${PROMPT}" -m ${given.model} -o lighthouse.png`,
  },
];
