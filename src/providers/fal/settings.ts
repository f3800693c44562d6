import type { ProviderId } from "../../domain/ids.ts";
import { keyedSettings } from "../kit/keyed-settings.ts";

export const FAL = { id: "fal" as ProviderId, title: "fal" } as const;

export function falSettings() {
  return keyedSettings({
    ...FAL,
    keyVariable: "FAL_KEY",
    baseUrl: { help: "address of fal's queue", fallback: "https://queue.fal.run" },
    concurrency: { fallback: 32 },
  });
}
