import { variablesOf } from "./auth.ts";
import { authsOf } from "./compiled-form.ts";
import type { Form } from "./form.ts";

/** What must be known of a form before it is used: how it is switched on. */
export interface Head {
  readonly id: string;
  readonly title: string;
  readonly base: string;
  readonly regions: readonly string[];
  /** How many tasks an account may have under way. */
  readonly concurrency: number;
  /** Of each kind of account, the names of its secrets and the customary variable of each. The first is asked for. */
  readonly kinds: readonly Readonly<Record<string, string>>[];
  /** It needs no key, so an address switches it on. */
  readonly isKeyless: boolean;
  /** One of the secrets may be a private key. */
  readonly hasPrivateKey: boolean;
}

/** Tasks that an upstream runs at one time, where the form does not say. */
const UNDER_WAY = 16;

export function headOf(form: Form): Head {
  const { provider: id, title = id, base, regions = {}, limits = {} } = form;
  const auths = authsOf(form);
  return {
    ...{ id, title, base, regions: Object.keys(regions) },
    concurrency: limits.under_way ?? UNDER_WAY,
    kinds: auths.map(variablesOf),
    isKeyless: auths.some(({ none }) => none === true),
    hasPrivateKey: auths.some(({ jwt, oauth }) => (jwt ?? oauth?.assertion)?.alg === "RS256"),
  };
}
