/** How libraries of the images API call themselves: `OpenAI/JS 6.1.0`, `AsyncOpenAI/Python 2.8.0`, `… ai-sdk/openai-compatible/2.0.1`. */
const IMAGES_CLIENT = /OpenAI\/(JS|Python)|ai-sdk\/openai/;

/** Whether a library of the images API asks, by what it calls itself. */
export function isImagesClient({ headers }: Request): boolean {
  return IMAGES_CLIENT.test(headers.get("user-agent") ?? "");
}
