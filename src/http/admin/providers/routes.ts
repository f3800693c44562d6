import type { Operator } from "../../../domain/access/actor.ts";
import type { ManagedProviders } from "../../../domain/ports/managed-providers.ts";
import { accountTestForm, managedProviderForm, providerFormInFull } from "../../../domain/provider-form.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { PROVIDER_QUERY, PROVIDERS, TEST_REQUEST } from "./wire.ts";

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
