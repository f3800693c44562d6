import type { ProviderId } from "../../domain/ids.ts";
import { keyedSettings } from "../kit/keyed-settings.ts";

/** The address of its queue. */
export const FAL_QUEUE = "https://queue.fal.run";

export const FAL = { id: "fal" as ProviderId, title: "fal" } as const;

export function falSettings() {
  return keyedSettings({
    ...FAL,
    keyVariable: "FAL_KEY",
    baseUrl: { help: "address of fal's queue", fallback: FAL_QUEUE },
    concurrency: { fallback: 32 },
  });
}
