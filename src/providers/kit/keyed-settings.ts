import { apiUrl, integer, oneOf } from "../../toolkit/settings/parsers.ts";
import type { Secret } from "../../toolkit/settings/secret.ts";
import { credential, setting } from "../../toolkit/settings/setting.ts";
import { type ProviderAccount, ratesOf } from "../account.ts";

export const RESTARTS = ["charged", "safe"] as const;
/** What making a task a second time costs: `charged` money, `safe` only electricity. */
export type Restarts = (typeof RESTARTS)[number];

/** The settings that every provider reached by a key has. */
export function keyedSettings(given: {
  readonly id: string;
  readonly title: string;
  /** The customary variable of the key. */
  readonly keyVariable: string;
  readonly baseUrl: {
    readonly help: string;
    readonly customaryEnv?: string | undefined;
    readonly fallback: string;
  };
  readonly concurrency: { readonly remark?: string | undefined; readonly fallback: number };
}) {
  const { id, title, keyVariable, baseUrl, concurrency } = given;
  const also = baseUrl.customaryEnv === undefined ? "" : `, ${baseUrl.customaryEnv} counts too`;
  const remark = concurrency.remark === undefined ? "" : `; ${concurrency.remark}`;
  return {
    key: credential({ variable: keyVariable, sentTo: "baseUrl" }),
    baseUrl: setting<string>({
      live: true,
      key: `providers.${id}.base_url`,
      customaryEnv: baseUrl.customaryEnv,
      flag: `--${id}-base-url <url>`,
      help: `${baseUrl.help}; ${keyVariable} switches this provider on${also}`,
      parse: apiUrl,
      fallback: baseUrl.fallback,
    }),
    concurrency: setting<number>({
      live: true,
      key: `providers.${id}.concurrency`,
      flag: `--${id}-concurrency <tasks>`,
      help: `most ${title} tasks at one time${remark}`,
      parse: integer(1, 10_000),
      fallback: concurrency.fallback,
    }),
    restarts: setting<Restarts>({
      live: true,
      key: `providers.${id}.restarts`,
      flag: `--${id}-restarts <cost>`,
      help: "safe: an engine of your own, where making a task twice costs nothing; what it lost is made again until the deadline",
      parse: oneOf(RESTARTS),
      fallback: "charged",
    }),
  };
}

/** What a key's account gives an adapter. */
export function keyedAccount(
  account: ProviderAccount & { readonly secrets: { readonly key: Secret } },
  settings: { readonly concurrency: number },
) {
  return {
    lane: account.lane,
    apiKey: account.secrets.key.reveal(),
    concurrency: account.concurrency ?? settings.concurrency,
    rates: ratesOf(account),
    proxy: account.proxy,
  };
}
