import type { JsonObject } from "../../src/domain/json.ts";
import { accountTestForm, managedProviderForm, providerFormInFull } from "../../src/domain/provider-form.ts";
import { HARMLESS, segment } from "../client/admin.ts";
import type { Invocation } from "../command.ts";
import { readLocalConfig } from "../local.ts";
import { objectsIn, textsIn } from "./fields.ts";
import { connectAsOperator } from "./managed.ts";
import { choosePlace, type PlaceFlags } from "./place.ts";

/** The providers of a data folder or a server, as the API words them. */
export interface ProviderPlace {
  list(): Promise<{ readonly providers: readonly JsonObject[]; readonly problems: readonly string[] }>;
  /** @param withText whether the text of its form is wanted */
  read(id: string, withText?: boolean): Promise<JsonObject>;
  test(id: string, account: string | undefined): Promise<readonly JsonObject[]>;
}

/** The data folder may not be there yet: what comes along is listed all the same. */
export async function openProviderPlace(invocation: Invocation<PlaceFlags>): Promise<ProviderPlace> {
  const { options, context, output } = invocation;
  if (choosePlace(options, context) === "folder") {
    // Loaded late: it imports every provider.
    const { openLocalProviders } = await import("../../src/app/local-providers.ts");
    const local = openLocalProviders(readLocalConfig(options, context));
    return {
      async list() {
        const { providers, problems } = await local.list();
        return { providers: providers.map(managedProviderForm), problems };
      },
      read: async (id, withText) => providerFormInFull(await local.read(id), withText),
      test: async (id, account) => (await local.test(id, account)).map(accountTestForm),
    };
  }
  const calls = connectAsOperator(options, context, output);
  if (context.stderr.isTerminal) output.say(`(on ${calls.server})`);
  return {
    async list() {
      const form = await calls.get("/providers");
      return { providers: objectsIn(form, "providers"), problems: textsIn(form, "problems") };
    },
    read: (id, withText = false) =>
      calls.get(`/providers/${segment(id)}`, withText ? { text: "true" } : undefined),
    async test(id, account) {
      const body = account === undefined ? {} : { account };
      return objectsIn(
        await calls.send("POST", `/providers/${segment(id)}/test`, body, HARMLESS),
        "accounts",
      );
    },
  };
}
