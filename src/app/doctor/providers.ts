import type { Config } from "../../config/config.ts";
import { describeNear } from "../../config/near-variables.ts";
import type { AccountTest } from "../../domain/ports/managed-providers.ts";
import { openLocalProviders } from "../local-providers.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

/** Tests the key of every account of a provider, with calls that make and cost nothing. Changes nothing. */
export async function providerChecks(config: Config): Promise<Finding[]> {
  if (config.replay !== undefined)
    return [
      warn("replay", `Answers come from ${config.replay}, and no provider is asked.`, "Leave out --replay."),
    ];
  const providers = openLocalProviders(config, { isReadOnly: true });
  const { providers: all } = await providers.list();
  const on = all.filter(({ accounts }) => accounts.length > 0);
  // A provider without an address makes its pictures itself.
  const asked = on.filter(({ accounts }) => accounts.some(({ baseUrl }) => baseUrl !== undefined));
  const add = `svc providers add PROVIDER --key-stdin --data-dir ${quoted(config.dataDir)}`;
  if (asked.length === 0)
    return [
      on.length > 0
        ? ok("providers", "No provider has a key; only demo pictures and videos can be made.")
        : error("providers", "No provider is switched on: nothing can be made.", add),
      ...noteChecks(config),
      ...recordCheck(config),
    ];
  const tests = (await Promise.all(asked.map(({ id }) => providers.test(id)))).flat();
  return [
    ok("providers", `${tests.length} ${tests.length === 1 ? "account" : "accounts"} at providers.`),
    ...tests.map((test) => accountCheck(test, config)),
    ...noteChecks(config),
    ...recordCheck(config),
  ];
}

/** Where keys come from, and which variables are read by other programs alone: the provider then has no key here. */
function noteChecks({ notes, misnamed }: Config): Finding[] {
  const fixes = new Map(
    misnamed.map((each) => [describeNear(each), `export ${each.meant}="$${each.name}", if svc is to use it`]),
  );
  return notes.map((note) => {
    const fix = fixes.get(note);
    return fix === undefined ? ok("providers", `${note}.`) : warn("providers", `${note}.`, fix);
  });
}

function accountCheck({ lane, provider, account, tested, lacks = [] }: AccountTest, config: Config): Finding {
  const folder = `--data-dir ${quoted(config.dataDir)}`;
  const named = account === "default" ? "" : ` --account ${account}`;
  const again = `svc providers add ${provider}${named} --key-stdin ${folder}`;
  switch (tested.kind) {
    case "ok":
      if (lacks.length === 0) return ok("provider_keys", `${lane}: the key works.`);
      return warn(
        "provider_keys",
        `${lane} lacks something: ${lacks.join("; ")}.`,
        `svc providers test ${provider} ${folder}`,
      );
    case "untested":
      return ok("provider_keys", `${lane}: ${tested.detail}.`);
    case "refused":
      return error("provider_keys", `${lane} refuses the key: ${tested.detail}.`, again);
    case "spent":
      return error(
        "provider_keys",
        `${lane} has no money left: ${tested.detail}.`,
        "Add money at the provider.",
      );
    // Nothing is known of the key.
    case "failed":
      return warn(
        "provider_reach",
        `${lane} could not be tested: ${tested.detail}.`,
        `svc providers test ${provider} ${folder}, when it is well again; else look at providers.${provider}.base_url.`,
      );
    case "unreachable":
      return warn(
        "provider_reach",
        `${lane} cannot be reached: ${tested.detail}.`,
        `Look at the network of this machine, at proxy, and at providers.${provider}.base_url.`,
      );
  }
}

function recordCheck({ record }: Config): Finding[] {
  if (record === undefined) return [];
  const text = `What providers answer is written to ${record}, with prompts and files of callers.`;
  return [warn("record", text, "Leave out --record.")];
}

const EVERYWHERE = /\/0$/;
const OWN = /^(127\.|::1\/|169\.254\.|fe80:)/;

/** Where callbacks and addresses of callers may lead. */
export function guardCheck({ egress }: Pick<Config, "egress">): Finding[] {
  const wide = egress.allow.filter((range) => EVERYWHERE.test(range) || OWN.test(range));
  if (wide.length === 0) {
    const some = egress.allow.length === 0 ? "" : ` but ${egress.allow.join(", ")}`;
    return [ok("callback_guard", `Callbacks and addresses of callers reach no private address${some}.`)];
  }
  const text = `egress.allow has ${wide.join(", ")}: whoever has a key can have this machine, or its cloud, answer requests.`;
  return [
    warn(
      "callback_guard",
      text,
      "egress.allow: only the ranges that your receivers are in, such as [192.168.1.0/24]",
    ),
  ];
}
