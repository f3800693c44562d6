import type { ProviderId } from "../../domain/ids.ts";
import { boolean } from "../../toolkit/settings/parsers.ts";
import { setting } from "../../toolkit/settings/setting.ts";
import { keyedSettings } from "../kit/keyed-settings.ts";

export const OPENAI = { id: "openai" as ProviderId, title: "OpenAI" } as const;

export function openAiSettings() {
  return {
    ...keyedSettings({
      ...OPENAI,
      keyVariable: "OPENAI_API_KEY",
      baseUrl: {
        help: "server of the OpenAI images API",
        customaryEnv: "OPENAI_BASE_URL",
        fallback: "https://api.openai.com/v1",
      },
      concurrency: {
        remark: "each occupies one of scheduler.steps until its images arrive",
        fallback: 8,
      },
    }),
    isIdempotent: setting<boolean>({
      live: true,
      key: "providers.openai.idempotent",
      flag: "--openai-idempotent",
      help: "that server honours Idempotency-Key, as another svc does; api.openai.com does not",
      parse: boolean,
      fallback: false,
    }),
  };
}
