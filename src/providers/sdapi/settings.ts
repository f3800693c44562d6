import type { ProviderId } from "../../domain/ids.ts";
import { apiUrl, boolean, integer, oneOf } from "../../toolkit/settings/parsers.ts";
import { credential, setting } from "../../toolkit/settings/setting.ts";
import type { Restarts } from "../kit/keyed-settings.ts";

export const SDAPI = { id: "sdapi" as ProviderId, title: "Stable Diffusion web UI" } as const;

/** Where such a server listens unless it is told otherwise. An account that has a key alone is there. */
export const USUAL = "http://127.0.0.1:7860";

export function sdApiSettings() {
  return {
    key: credential({ variable: "SDAPI_API_KEY", sentTo: "baseUrl" }),
    baseUrl: setting<string | undefined>({
      live: true,
      key: "providers.sdapi.base_url",
      customaryEnv: "SDAPI_BASE_URL",
      flag: "--sdapi-base-url <url>",
      help: "an AUTOMATIC1111, Forge or SD.Next server started with --api, whose address switches this provider on, SDAPI_BASE_URL counts too",
      parse: apiUrl,
      fallback: undefined,
      fallbackText: USUAL,
    }),
    concurrency: setting<number>({
      live: true,
      key: "providers.sdapi.concurrency",
      flag: "--sdapi-concurrency <tasks>",
      help: "most tasks of such a server at one time; it makes one, and the others wait there",
      parse: integer(1, 10_000),
      fallback: 2,
    }),
    isExclusive: setting<boolean>({
      live: true,
      key: "providers.sdapi.exclusive",
      help: "nobody else uses that server, so what it makes for a cancelled task may be interrupted, which stops whatever it makes",
      parse: boolean,
      fallback: false,
    }),
    restarts: setting<Restarts>({
      live: true,
      key: "providers.sdapi.restarts",
      help: "safe: a picture that was made there and lost with its answer is made again; charged: its task fails",
      parse: oneOf(["charged", "safe"]),
      fallback: "charged",
    }),
  };
}
