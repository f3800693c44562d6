import type { JsonObject } from "./json.ts";
import { troublesForm } from "./model/standing-form.ts";
import { formatAmount } from "./money/money.ts";
import type {
  AccountTest,
  ManagedAccount,
  ManagedProvider,
  ProviderInFull,
} from "./ports/managed-providers.ts";

/** A provider as `GET /admin/v1/providers` lists it. */
export function managedProviderForm({
  form,
  id,
  title,
  needs,
  accounts,
  models,
}: ManagedProvider): JsonObject {
  return {
    ...{ id, title, kind: form === undefined ? "code" : "form" },
    ...(form === undefined
      ? { code: true }
      : {
          form: {
            ...{ hash: form.hash, own: form.file !== undefined },
            ...(form.file !== undefined && { file: form.file }),
          },
        }),
    ...{ available: accounts.length > 0, needs, accounts: accounts.map(accountForm), models },
  };
}

function accountForm({ name, lane, keyFrom, region, baseUrl, concurrency }: ManagedAccount): JsonObject {
  return {
    ...{ name, lane, key_from: keyFrom },
    ...(region !== undefined && { region }),
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** The same with everything that is known about the provider. @param withText whether to include the text of its form */
export function providerFormInFull(provider: ProviderInFull, withText = false): JsonObject {
  const { facts, routes, problems, form, kinds } = provider;
  return {
    ...managedProviderForm(provider),
    ...{ facts, problems, kinds: kinds.map((kind) => [...kind]) },
    routes: routes.map(({ model, upstreamModel, ...known }) => ({
      ...{ model, upstream_model: upstreamModel },
      ...troublesForm(known),
    })),
    ...(withText && form && { text: form.text }),
  };
}

/** The result of testing an account. */
export function accountTestForm({ provider, account, lane, tookMs, tested, lacks }: AccountTest): JsonObject {
  const { balance, balanceMicros } = tested.kind === "ok" ? tested : {};
  return {
    ...{ provider, account, lane, result: tested.kind, took_ms: tookMs },
    ...(tested.kind !== "ok" && { detail: tested.detail }),
    ...(lacks !== undefined && lacks.length > 0 && { lacks }),
    ...(balance !== undefined && { balance }),
    ...(balanceMicros !== undefined && { balance_usd: formatAmount(balanceMicros) }),
  };
}
