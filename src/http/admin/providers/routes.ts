import type { Operator } from "../../../domain/access/actor.ts";
import { DEFAULT_ACCOUNT } from "../../../domain/lane.ts";
import type { ManagedProviders } from "../../../domain/ports/managed-providers.ts";
import { accountTestForm, managedProviderForm, providerFormInFull } from "../../../domain/provider-form.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { ADD_KEY_REQUEST, PROVIDER_QUERY, PROVIDERS, REMOVE_KEY_REQUEST, TEST_REQUEST } from "./wire.ts";

/** The account at a provider to which the key belongs. */
interface AccountOf {
  readonly provider: string;
  readonly account: string;
}

/** Stores keys of accounts, sealed. Both methods return whether the server already uses the change. */
export interface KeepProviderKeys {
  /** @throws AppError `not_found`; `invalid_request` without any part of a secret */
  add(
    operator: Operator,
    given: AccountOf & { readonly secrets: Readonly<Record<string, string>> },
  ): Promise<{ readonly lane: string; readonly isInForce: boolean }>;
  /** @throws AppError `not_found` if no key is stored */
  remove(operator: Operator, of: AccountOf): Promise<{ readonly lane: string; readonly isInForce: boolean }>;
}

interface KeyBody {
  readonly account?: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** POST /admin/v1/providers/{id}/add and …/remove. */
export function providerKeyEndpoints(keys: KeepProviderKeys): Endpoint[] {
  const form = (
    provider: string,
    account: string,
    { lane, isInForce }: { lane: string; isInForce: boolean },
  ) => success({ provider, account, lane, in_force: isInForce });
  return [
    managed("POST", "/admin/v1/providers/:id/add", PROVIDERS.add, async (exchange) => {
      const { account = DEFAULT_ACCOUNT, secrets } = await readBody<KeyBody>(exchange, ADD_KEY_REQUEST);
      const provider = exchange.param("id");
      return form(provider, account, await keys.add(exchange.operator, { provider, account, secrets }));
    }),
    managed("POST", "/admin/v1/providers/:id/remove", PROVIDERS.remove, async (exchange) => {
      const { account = DEFAULT_ACCOUNT } = await readBody<{ account?: string }>(
        exchange,
        REMOVE_KEY_REQUEST,
      );
      const provider = exchange.param("id");
      return form(provider, account, await keys.remove(exchange.operator, { provider, account }));
    }),
  ];
}

/** /admin/v1/providers. */
export function managedProviderEndpoints(providersAs: (operator: Operator) => ManagedProviders): Endpoint[] {
  return [
    managed("GET", "/admin/v1/providers", PROVIDERS.list, async ({ operator }) => {
      const { providers: all, problems } = await providersAs(operator).list();
      return success({ providers: all.map(managedProviderForm), problems });
    }),
    managed("GET", "/admin/v1/providers/:id", PROVIDERS.read, async ({ operator, param, query }) => {
      const { text = false } = checkQuery(PROVIDER_QUERY, query()) as { text?: boolean };
      return success(providerFormInFull(await providersAs(operator).read(param("id")), text));
    }),
    managed("POST", "/admin/v1/providers/:id/test", PROVIDERS.test, async (exchange) => {
      const { account } = await readBody<{ account?: string }>(exchange, TEST_REQUEST);
      const tests = await providersAs(exchange.operator).test(exchange.param("id"), account);
      return success({ accounts: tests.map(accountTestForm) });
    }),
  ];
}
