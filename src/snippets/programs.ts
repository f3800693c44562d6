import { keyInEnv, type Snippet } from "./snippet.ts";

/** Programs with settings of their own, which were read in their sources and manuals (checked 2026-11-24). */
export const PROGRAMS: readonly Snippet[] = [
  {
    id: "open-webui",
    name: "Open WebUI",
    place: "Environment of its container, or Admin Panel → Settings → Images with the same values.",
    language: "env",
    text: (given) => `ENABLE_IMAGE_GENERATION=true
IMAGE_GENERATION_ENGINE=openai
IMAGES_OPENAI_API_BASE_URL=${given.origin}/compat/v1
IMAGES_OPENAI_API_KEY=${keyInEnv(given)}
IMAGE_GENERATION_MODEL=${given.model}`,
  },
  {
    id: "librechat",
    name: "LibreChat",
    place: "Its .env; then add the tool “OpenAI Image Tools” to an agent.",
    language: "env",
    text: (given) => `IMAGE_GEN_OAI_API_KEY=${keyInEnv(given)}
IMAGE_GEN_OAI_BASEURL=${given.origin}/compat/v1
IMAGE_GEN_OAI_MODEL=${given.model}`,
  },
  {
    id: "n8n",
    name: "n8n",
    place:
      "A credential of the kind “OpenAI”; then the node OpenAI → Generate an image, with the model by its id.",
    language: "text",
    text: (given) => `API Key:  ${keyInEnv(given)}
Base URL: ${given.origin}/compat/v1
Model:    By ID, ${given.model}`,
  },
  {
    id: "sillytavern",
    name: "SillyTavern",
    place:
      "Extensions → Image Generation, source “Stable Diffusion Web UI (AUTOMATIC1111)”; Connect, then the model from the list.",
    language: "text",
    facade: "automatic1111",
    text: (given) => `SD Web UI URL:  ${given.origin}
Authentication: svc:${keyInEnv(given)}
Model:          ${given.model}`,
  },
];
