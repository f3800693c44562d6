import type { SettingTable, ValuesOf } from "../../toolkit/settings/setting.ts";
import { baseOf, keepingBase, ratesOf } from "../account.ts";
import type { ProviderDefinition } from "../definition.ts";
import { SDAPI, sdApiSettings, USUAL } from "./settings.ts";

export const sdApi: ProviderDefinition = {
  ...SDAPI,
  settings: sdApiSettings,
  // Most servers have no key.
  kinds: [["key"], []],
  isKeyless: ({ baseUrl }) => baseUrl !== undefined,
  needs: ({ key, baseUrl } = {}) =>
    key === undefined && baseUrl === undefined ? ["providers.sdapi.base_url"] : [],
  async create(account, values, { clock, network }) {
    const { createSdApiProvider } = await import("./adapter.ts");
    // They were read by this definition's table.
    const settings = values as ValuesOf<ReturnType<typeof sdApiSettings> & SettingTable>;
    const given = {
      ...{ clock, network },
      apiKey: account.secrets.key?.reveal(),
      concurrency: account.concurrency ?? settings.concurrency,
      lane: account.lane,
      rates: ratesOf(account),
      proxy: account.proxy,
      isExclusive: settings.isExclusive,
      mayRepeat: settings.restarts === "safe" || account.onUnknown === "resubmit",
    };
    return keepingBase(baseOf(account, settings.baseUrl ?? USUAL), (baseUrl) =>
      createSdApiProvider({ ...given, baseUrl }),
    );
  },
};
