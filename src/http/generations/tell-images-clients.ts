import type { Log } from "../../domain/ports/runtime.ts";

/** How libraries of the images API call themselves: `OpenAI/JS 6.1.0`, `AsyncOpenAI/Python 2.8.0`, `… ai-sdk/openai-compatible/2.0.1`. */
const IMAGES_CLIENT = /OpenAI\/(JS|Python)|ai-sdk\/openai/;

/**
 * Warns, once, of a library of the images API that creates tasks here: its base URL lacks `/compat`. The library takes the task for
 * an answer without pictures, and its program ends far from the cause.
 */
export function createTellImagesClients(log: Pick<Log, "warn">) {
  let hasTold = false;
  return ({ request }: { readonly request: Request }, key: string, path: string): void => {
    if (hasTold) return;
    const client = request.headers.get("user-agent") ?? "";
    if (!IMAGES_CLIENT.test(client)) return;
    hasTold = true;
    log.warn(
      { client: client.slice(0, 100), key, path },
      "a client of the images API got a task in place of pictures; its base URL should end with /compat/v1",
    );
  };
}
