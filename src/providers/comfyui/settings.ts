import type { ProviderId } from "../../domain/ids.ts";
import { apiUrl, integer, oneOf } from "../../toolkit/settings/parsers.ts";
import { credential, setting } from "../../toolkit/settings/setting.ts";
import type { Restarts } from "../kit/keyed-settings.ts";

export const COMFYUI = { id: "comfyui" as ProviderId, title: "ComfyUI" } as const;

/** Where a key alone leads to. */
export const CLOUD = "https://cloud.comfy.org";

export function comfySettings() {
  return {
    key: credential({ variable: "COMFYUI_API_KEY", sentTo: "baseUrl" }),
    baseUrl: setting<string | undefined>({
      live: true,
      key: "providers.comfyui.base_url",
      customaryEnv: "COMFYUI_BASE_URL",
      flag: "--comfyui-base-url <url>",
      help: "a ComfyUI server, whose address switches this provider on, COMFYUI_BASE_URL counts too; COMFYUI_API_KEY alone means Comfy Cloud",
      parse: apiUrl,
      fallback: undefined,
      fallbackText: CLOUD,
    }),
    concurrency: setting<number>({
      live: true,
      key: "providers.comfyui.concurrency",
      flag: "--comfyui-concurrency <tasks>",
      help: "most ComfyUI tasks of a server at one time; it runs one, and the others wait in its queue",
      parse: integer(1, 10_000),
      fallback: 2,
    }),
    restarts: setting<Restarts | undefined>({
      live: true,
      key: "providers.comfyui.restarts",
      help: "safe: what a server lost is made again until the deadline; charged: its task fails",
      parse: oneOf(["charged", "safe"]),
      fallback: undefined,
      fallbackText: "safe; charged for Comfy Cloud",
    }),
  };
}

/** Comfy Cloud has calls of its own for what becomes of a job. */
export function isCloud(base: string): boolean {
  const { hostname } = new URL(base);
  return hostname === "comfy.org" || hostname.endsWith(".comfy.org");
}
