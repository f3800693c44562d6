import { baseOf, keepingBase } from "../account.ts";
import { defineProvider } from "../definition.ts";
import { keyedAccount } from "../kit/keyed-settings.ts";
import { SVC, svcSettings } from "./settings.ts";

export const svc = defineProvider({
  ...SVC,
  settings: svcSettings,
  needs: ["key"],
  async create(account, { key: _, ...settings }, { clock, fetchPublic, network }) {
    const { createSvcProvider } = await import("./adapter.ts");
    const given = { ...settings, clock, fetchPublic, network, ...keyedAccount(account, settings) };
    return keepingBase(baseOf(account, settings.baseUrl), (baseUrl) =>
      createSvcProvider({ ...given, baseUrl }),
    );
  },
});
