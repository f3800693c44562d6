import { apiUrl, integer, oneOf, type Parser } from "../../toolkit/settings/parsers.ts";
import { type Credential, credential, setting } from "../../toolkit/settings/setting.ts";
import type { ProviderAccount } from "../account.ts";
import { RESTARTS, type Restarts } from "./keyed-settings.ts";

/**
 * The settings of a provider that has no flags of its own: they count for its accounts where these say nothing else.
 *
 * @param given.variables the customary variable of each credential, by the credential's name
 */
export function accountSettings(given: {
  readonly id: string;
  readonly title: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Takes a credential; a key of up to 512 characters unless given. */
  readonly parseSecret?: Parser<string> | undefined;
  readonly base: string;
  readonly regions: readonly string[];
  /** How many tasks an account may have under way. */
  readonly concurrency: number;
  /** It is an engine of the operator's own, where making a task twice may cost nothing. */
  readonly isOwnEngine?: boolean | undefined;
}) {
  const { id, title, variables, base, regions, concurrency } = given;
  const credentials = Object.entries(variables).map(([name, variable]): [string, Credential] => [
    name,
    credential({ variable, sentTo: "baseUrl", parse: given.parseSecret }),
  ]);
  const switchedOn = switchText(Object.values(variables));
  return {
    ...Object.fromEntries(credentials),
    baseUrl: setting<string | undefined>({
      live: true,
      key: `providers.${id}.base_url`,
      help: `address of ${title}'s API, or another origin for it${switchedOn}`,
      parse: apiUrl,
      // A usual address that is given all the same counts as given.
      fallback: undefined,
      fallbackText: base,
    }),
    ...(regions.length === 0
      ? {}
      : {
          region: setting<string | undefined>({
            live: true,
            key: `providers.${id}.region`,
            help: `where ${title} makes tasks: ${regions.join(", ")}`,
            parse: oneOf(regions),
            fallback: undefined,
            fallbackText: "the usual one",
          }),
        }),
    concurrency: setting<number>({
      live: true,
      key: `providers.${id}.concurrency`,
      help: `most ${title} tasks of an account at one time`,
      parse: integer(1, 10_000),
      fallback: concurrency,
    }),
    ...(given.isOwnEngine === true && {
      restarts: setting<Restarts>({
        live: true,
        key: `providers.${id}.restarts`,
        help: "safe: what the engine lost is made again until the deadline, which costs nothing; charged: its task fails",
        parse: oneOf(RESTARTS),
        fallback: "charged",
      }),
    }),
  };
}

function switchText(names: readonly string[]): string {
  return names.length === 0
    ? ""
    : `; ${names.join(" and ")} switch${names.length > 1 ? "" : "es"} this provider on`;
}

/** An account with what the provider's settings say where it says nothing itself. */
export function withSettings(
  account: ProviderAccount,
  values: Pick<ProviderAccount, "baseUrl" | "region"> & { readonly concurrency: number },
): ProviderAccount {
  return {
    ...account,
    baseUrl: account.baseUrl ?? values.baseUrl,
    region: account.region ?? values.region,
    concurrency: account.concurrency ?? values.concurrency,
  };
}
