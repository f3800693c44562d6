import { defineProvider } from "../definition.ts";
import { FAL, falSettings } from "./settings.ts";

export const fal = defineProvider({
  ...FAL,
  settings: falSettings,
  needs: ["key"],
  async create({ key, ...settings }, { clock }) {
    const { createFalProvider } = await import("./adapter.ts");
    return createFalProvider({ ...settings, apiKey: key.reveal(), clock });
  },
});
