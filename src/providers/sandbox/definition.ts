import { defineProvider } from "../definition.ts";
import { SANDBOX, sandboxSettings } from "./settings.ts";

export const sandbox = defineProvider({
  ...SANDBOX,
  settings: sandboxSettings,
  needs: ["enabled"],
  async create(_account, { concurrency, workers }, { clock, directory, isShared, pictureBytes }) {
    const { createSandboxProvider } = await import("./adapter.ts");
    return createSandboxProvider({ directory, clock, concurrency, workers, isShared, pictureBytes });
  },
});
