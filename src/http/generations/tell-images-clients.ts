import type { Log } from "../../domain/ports/runtime.ts";
import { isImagesClient } from "../images-client.ts";

/**
 * Warns, once, of a library of the images API that creates tasks here: its base URL lacks `/compat`. The library takes the task for
 * an answer without pictures, and its program ends far from the cause.
 */
export function createTellImagesClients(log: Pick<Log, "warn">) {
  let hasTold = false;
  return ({ request }: { readonly request: Request }, key: string, path: string): void => {
    if (hasTold || !isImagesClient(request)) return;
    hasTold = true;
    const client = request.headers.get("user-agent") ?? "";
    log.warn(
      { client: client.slice(0, 100), key, path },
      "a client of the images API got a task in place of pictures; its base URL should end with /compat/v1",
    );
  };
}
