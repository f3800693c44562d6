import { keyInJs, keyInPython, keyInShell, PROMPT, quoted, type Snippet } from "./snippet.ts";

type Film = NonNullable<Snippet["film"]>;

const FILE = quoted("lighthouse.mp4");
const WRITE_FILE = 'import { writeFile } from "node:fs/promises";';

/** How libraries and programs of the command line make a film, by their ids among `LIBRARIES`. */
export const FILMS: Readonly<Record<string, Film>> = {
  curl: {
    place:
      "In a terminal. The answer has the film's id; /compat/v1/videos/ID/content has the film once it is made.",
    text: (given) => `curl -s ${given.origin}/compat/v1/videos \\
  -H "Authorization: Bearer ${keyInShell(given)}" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model: given.model, prompt: PROMPT })}'`,
  },
  "openai-js": {
    place: "npm install openai",
    text: (given) => `${WRITE_FILE}
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${quoted(`${given.origin}/compat/v1`)}, apiKey: ${keyInJs(given)} });
let film = await client.videos.create({ model: ${quoted(given.model)}, prompt: ${quoted(PROMPT)} });
while (film.status === "queued" || film.status === "in_progress") {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  film = await client.videos.retrieve(film.id);
}
const content = await client.videos.downloadContent(film.id);
await writeFile(${FILE}, Buffer.from(await content.arrayBuffer()));`,
  },
  "openai-python": {
    place: "pip install openai",
    text: (given) => `import os
from openai import OpenAI

client = OpenAI(base_url=${quoted(`${given.origin}/compat/v1`)}, api_key=${keyInPython(given)})
film = client.videos.create_and_poll(model=${quoted(given.model)}, prompt=${quoted(PROMPT)})
client.videos.download_content(film.id).write_to_file(${FILE})`,
  },
  fal: {
    place: "npm install @fal-ai/client",
    text: (given) => `${WRITE_FILE}
import { fal } from "@fal-ai/client";

fal.config({
  credentials: ${keyInJs(given)},
  proxyUrl: { url: ${quoted(`${given.origin}/fal`)}, when: "always" },
});
const { data } = await fal.subscribe(${quoted(`svc/${given.model}`)}, { input: { prompt: ${quoted(PROMPT)} } });
await writeFile(${FILE}, await (await fetch(data.video.url)).bytes());`,
  },
  replicate: {
    place: "npm install replicate",
    text: (given) => `${WRITE_FILE}
import Replicate from "replicate";

const replicate = new Replicate({ baseUrl: ${quoted(`${given.origin}/replicate/v1`)}, auth: ${keyInJs(given)} });
const film = await replicate.run(${quoted(`svc/${given.model}`)}, { input: { prompt: ${quoted(PROMPT)} } });
const answer = await fetch(String(film));
await writeFile(${FILE}, Buffer.from(await answer.arrayBuffer()));`,
  },
  genai: {
    place: "npm install @google/genai",
    // The enterprise edition alone has videos in this library (3.3, checked 2026-11-30).
    text: (given) => `${WRITE_FILE}
import { GoogleGenAI } from "@google/genai";

const httpOptions = { baseUrl: ${quoted(`${given.origin}/gemini`)} };
const ai = new GoogleGenAI({ vertexai: true, apiKey: ${keyInJs(given)}, httpOptions });
let operation = await ai.models.generateVideos({ model: ${quoted(given.model)}, source: { prompt: ${quoted(PROMPT)} } });
while (!operation.done) {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  operation = await ai.operations.getVideosOperation({ operation });
}
const [film] = operation.response.generatedVideos;
await writeFile(${FILE}, Buffer.from(film.video.videoBytes, "base64"));`,
  },
  svc: {
    place: "In a terminal, with this service's own program.",
    text: (
      given,
    ) => `export SVC_SERVER=${given.origin}${given.key === undefined ? "" : ` SVC_API_KEY=${given.key}`}
svc video "${PROMPT}" -m ${given.model} -o lighthouse.mp4`,
  },
};
