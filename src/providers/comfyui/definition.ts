import type { SettingTable, ValuesOf } from "../../toolkit/settings/setting.ts";
import { baseOf, keepingBase, ratesOf } from "../account.ts";
import type { ProviderDefinition } from "../definition.ts";
import { CLOUD, COMFYUI, comfySettings, isCloud } from "./settings.ts";

export const comfyUi: ProviderDefinition = {
  ...COMFYUI,
  settings: comfySettings,
  // A server of one's own needs no key. A key that is set is for a proxy in front of it.
  kinds: [["key"], []],
  isKeyless: ({ baseUrl }) => baseUrl !== undefined,
  needs: ({ key, baseUrl } = {}) =>
    key === undefined && baseUrl === undefined ? ["providers.comfyui.base_url"] : [],
  async create(account, values, { clock, fetchPublic, network }) {
    const { createComfyProvider } = await import("./adapter.ts");
    // They were read by this definition's table.
    const settings = values as ValuesOf<ReturnType<typeof comfySettings> & SettingTable>;
    const given = {
      ...{ clock, fetchPublic, network },
      apiKey: account.secrets.key?.reveal(),
      concurrency: account.concurrency ?? settings.concurrency,
      lane: account.lane,
      rates: ratesOf(account),
      proxy: account.proxy,
    };
    return keepingBase(baseOf(account, settings.baseUrl ?? CLOUD), (baseUrl) =>
      createComfyProvider({
        ...given,
        baseUrl,
        isCloud: isCloud(baseUrl),
        restarts: settings.restarts ?? (isCloud(baseUrl) ? "charged" : "safe"),
      }),
    );
  },
};
