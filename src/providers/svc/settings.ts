import type { ProviderId } from "../../domain/ids.ts";
import { keyedSettings } from "../kit/keyed-settings.ts";

export const SVC = { id: "svc" as ProviderId, title: "svc" } as const;

export function svcSettings() {
  return keyedSettings({
    ...SVC,
    keyVariable: "SVC_UPSTREAM_API_KEY",
    baseUrl: { help: "address of another instance of this service", fallback: "http://127.0.0.1:8787" },
    concurrency: { fallback: 64 },
  });
}
