import { isCredential, type Machine } from "../toolkit/settings/setting.ts";
import type { Given } from "./choose.ts";
import type { ProviderSettings } from "./settings.ts";
import { OWN_KEY } from "./upstreams.ts";

/** A provider that is switched off, and the variable that its key is read from. */
interface Unread {
  readonly id: string;
  readonly title: string;
  readonly variable: string;
}

/** A variable that looks like the key of a provider. */
export interface NearVariable {
  readonly name: string;
  readonly provider: string;
  /** The one that is read. */
  readonly meant: string;
  readonly why: string;
}

/** What every name of a key may have, so that it tells nothing of whose it is. */
const COMMON = new Set(["API", "KEY", "TOKEN", "SECRET", "ID", "AI", "ML", "GENERATIVE"]);
const KEY_NAME = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN|SECRET)(_ID)?$/;
/** Longer names are none of a key. */
const LONGEST = 64;

/**
 * Finds variables that look like the key of a provider that is switched off, because it is read from another one. Other programs read
 * other names for the same key, and nothing is spent with a key that was not meant for this program.
 */
export function nearVariables(
  providers: readonly ProviderSettings[],
  isOn: (provider: string) => boolean,
  { env, machine }: { readonly env: Given["env"]; readonly machine: Machine },
): NearVariable[] {
  const variables = providers.map((provider) => keyVariables(provider, machine));
  const read = new Set(variables.flat());
  const unread = providers.flatMap(({ id, title = id }, i): Unread[] => {
    const [variable] = variables[i] ?? [];
    return variable === undefined || isOn(id) ? [] : [{ id, title, variable }];
  });
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (value === "" || OWN_KEY.test(value) || read.has(name) || !isKeyName(name)) return [];
    const meant = whoseKey(name, unread);
    if (meant === undefined) return [];
    return [
      {
        name,
        provider: meant.id,
        meant: meant.variable,
        why: `the key of ${meant.title} is read from ${meant.variable}`,
      },
    ];
  });
}

export const describeNear = ({ name, provider, why }: NearVariable): string =>
  `${provider}: ${name} is set, but ${why}`;

function keyVariables({ settings, kinds = [] }: ProviderSettings, machine: Machine): string[] {
  // An engine of one's own needs an address, and often no key.
  if (kinds.some((names) => names.length === 0)) return [];
  return Object.values(settings(machine)).flatMap((entry) => (isCredential(entry) ? [entry.variable] : []));
}

const isKeyName = (name: string) => name.length <= LONGEST && !name.startsWith("SVC_") && KEY_NAME.test(name);

/** A name of its own counts before the first word of its title, which providers may share. */
function whoseKey(name: string, unread: readonly Unread[]): Unread | undefined {
  const owner = plain(name);
  if (owner === "") return undefined;
  return (
    unread.find(({ id, title, variable }) => [variable, id, title].map(plain).includes(owner)) ??
    unread.find(({ title }) => plain(title.split(" ")[0] ?? "") === owner)
  );
}

/** What tells whose it is: `ACME_API_KEY` and `ACME_KEY` are both of `ACME`. */
function plain(name: string): string {
  const words = name.toUpperCase().split(/[^A-Z0-9]+/);
  return words.filter((word) => !COMMON.has(word)).join("");
}
