import { baseOf, keepingBase } from "../account.ts";
import { defineProvider } from "../definition.ts";
import { keyedAccount } from "../kit/keyed-settings.ts";
import { FAL, falSettings } from "./settings.ts";

export const fal = defineProvider({
  ...FAL,
  settings: falSettings,
  needs: ["key"],
  async create(account, { key: _, ...settings }, { clock, fetchPublic, network }) {
    const { createFalProvider } = await import("./adapter.ts");
    const given = { ...settings, clock, fetchPublic, network, ...keyedAccount(account, settings) };
    return keepingBase(baseOf(account, settings.baseUrl), (baseUrl) =>
      createFalProvider({ ...given, baseUrl }),
    );
  },
});
