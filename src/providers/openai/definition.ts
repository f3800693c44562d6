import { baseOf, keepingBase } from "../account.ts";
import { defineProvider } from "../definition.ts";
import { keyedAccount } from "../kit/keyed-settings.ts";
import { OPENAI, openAiSettings } from "./settings.ts";

export const openAi = defineProvider({
  ...OPENAI,
  settings: openAiSettings,
  needs: ["key"],
  async create(account, { key: _, ...settings }, { clock, fetchPublic, network }) {
    const { createOpenAiProvider } = await import("./adapter.ts");
    const given = { ...settings, clock, fetchPublic, network, ...keyedAccount(account, settings) };
    return keepingBase(baseOf(account, settings.baseUrl), (baseUrl) =>
      createOpenAiProvider({ ...given, baseUrl }),
    );
  },
});
