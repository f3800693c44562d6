import { onePixel } from "../run/one-pixel.ts";

/** What an upstream of the images API answers: the same pixel each time, and as much JSON as the service answers with. */
export function imagesAnswer() {
  const tokens = { text_tokens: 0, image_tokens: 0 };
  return {
    created: Math.floor(Date.now() / 1000),
    data: [{ b64_json: Buffer.from(onePixel(0)).toString("base64") }],
    size: "1024x1024",
    usage: {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      input_tokens: 0,
      output_tokens: 0,
      input_tokens_details: tokens,
      output_tokens_details: tokens,
    },
  };
}

/** The environment of a service whose OpenAI adapter asks this upstream, for many tasks at once. */
export function askingUpstream(url: string): Readonly<Record<string, string>> {
  return {
    OPENAI_API_KEY: "sk-bench",
    SVC_PROVIDERS_OPENAI_BASE_URL: url,
    SVC_PROVIDERS_OPENAI_CONCURRENCY: "512",
    SVC_SCHEDULER_STEPS: "64",
  };
}
