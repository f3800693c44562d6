import { createCatalog } from "../../catalog/catalog.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError, describeProblem } from "../../config/problem.ts";
import { sentence } from "../../domain/words/say.ts";
import { createEgress } from "../../egress/egress.ts";
import { PROVIDERS } from "../../providers/registry.ts";
import { createSystemClock } from "../../runtime/clock.ts";
import { aliasWarnings } from "../alias-warnings.ts";
import { configuredPricesOf } from "../configured-prices.ts";
import { openModeration } from "../moderation.ts";
import { problemText, readOwnModels } from "../own-models.ts";
import { readOwnProviders } from "../own-providers.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

/** What an operator has written in addition to settings: models, descriptions of providers, prices, checks of texts. */
export async function contentChecks(config: Config): Promise<Finding[]> {
  const own = await readOwnProviders(config);
  const ids = [
    ...new Set([...PROVIDERS.map(({ id }) => id), ...own.providers.map((each) => each.definition.id)]),
  ];
  const { models, problems } = readOwnModels(config, ids);
  const catalog = createCatalog({ models, providers: ids });
  const at = (folder: string) => `${quoted(config.dataDir)}/${folder}`;
  return [
    ...listed(
      "own_providers",
      own.problems.map(({ text }) => text),
      {
        good: `${own.providers.length} own providers.`,
        fix: `svc providers check ${at("providers/*.yaml")}`,
      },
    ),
    ...listed("own_models", problems.map(problemText), {
      good: `${models.length} models.`,
      fix: "Change the line that is named; a running server takes the file up within two seconds.",
    }),
    ...(await settled("aliases", "Every alias stands for a model.", () => aliasWarnings(config, catalog))),
    ...(await settled("pricing", "Every price of the settings can be used.", async () => {
      return configuredPricesOf(config, catalog).warnings;
    })),
    ...(await settled("moderation", moderationText(config), () => checkWarnings(config))),
  ];
}

function moderationText({ moderation }: Config): string {
  const count = moderation?.checks.length ?? 0;
  return count === 0
    ? "No checks of what callers ask for."
    : `${count} checks of what callers ask for can be used.`;
}

function listed(
  id: string,
  problems: readonly string[],
  { good, fix }: { readonly good: string; readonly fix: string },
): Finding[] {
  if (problems.length === 0) return [ok(id, good)];
  return problems.map((text) => warn(id, sentence(text), fix));
}

/** @param read returns warnings, and throws ConfigError for what keeps a server from starting */
async function settled(
  id: string,
  good: string,
  read: () => readonly string[] | Promise<readonly string[]>,
): Promise<Finding[]> {
  const fix = "Change the line of svc.yaml that is named.";
  try {
    const warnings = await read();
    return warnings.length === 0 ? [ok(id, good)] : warnings.map((text) => warn(id, text, fix));
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return cause.problems.map((problem) => error(id, describeProblem(problem), fix));
  }
}

async function checkWarnings(config: Config): Promise<readonly string[]> {
  const warnings: string[] = [];
  // What checks cost is measured at each start, and told there.
  const log = { warn: (fields: object, message: string) => void ("us" in fields || warnings.push(message)) };
  const egress = createEgress({ allow: config.egress.allow });
  await openModeration(config, { clock: createSystemClock(), egress, log });
  for (const check of config.moderation?.checks ?? [])
    if (check.kind === "endpoint" && check.lacksKey !== undefined)
      warnings.push(`${check.where} needs ${check.lacksKey}, which is not set.`);
  return warnings;
}
