import { defineProvider } from "../definition.ts";
import { OPENAI, openAiSettings } from "./settings.ts";

export const openAi = defineProvider({
  ...OPENAI,
  settings: openAiSettings,
  needs: ["key"],
  async create({ key, ...settings }, { clock }) {
    const { createOpenAiProvider } = await import("./adapter.ts");
    return createOpenAiProvider({ ...settings, apiKey: key.reveal(), clock });
  },
});
