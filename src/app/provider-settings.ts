import type { Config } from "../config/config.ts";
import { ConfigError, describeProblem } from "../config/problem.ts";
import type { ProviderConfig } from "../config/providers.ts";
import type { ProviderDefinition } from "../providers/definition.ts";

/** What is wrong with a provider, as a line. */
export interface ProviderProblem {
  /** The file that describes it; absent for one that comes along. */
  readonly file?: string | undefined;
  readonly provider?: string | undefined;
  readonly text: string;
}

/** What the settings say of a provider that became known late; absent where they cannot be used. What is wrong, a line each. */
export interface GivenSettings {
  readonly given?: ProviderConfig | undefined;
  readonly problems: readonly string[];
}

export function settingsOf(
  definition: ProviderDefinition,
  { providerConfig }: Pick<Config, "providerConfig">,
): GivenSettings {
  try {
    const given = providerConfig(definition);
    return { given, problems: given.warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map(describeProblem) };
  }
}
