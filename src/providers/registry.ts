import { join } from "node:path";
import type { ProviderId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createFalProvider, FAL_ID } from "./fal/adapter.ts";
import { createOpenAiProvider, OPENAI_ID } from "./openai/adapter.ts";
import { createSandboxProvider, SANDBOX_ID } from "./sandbox/adapter.ts";

/** A provider reached with a key; without one it is switched off. */
interface KeyedSettings {
  readonly key?: { reveal(): string } | undefined;
  readonly baseUrl: string;
  readonly concurrency: number;
}

/** What providers read of the service's settings. */
export interface ProviderSettings {
  readonly dataDir: string;
  readonly sandbox: { readonly enabled: boolean; readonly concurrency: number; readonly workers: number };
  readonly providers: {
    readonly openai: KeyedSettings & { readonly isIdempotent: boolean };
    readonly fal: KeyedSettings;
  };
}

export interface ProviderDeps {
  readonly config: ProviderSettings;
  readonly clock: Clock;
}

/** Every built-in provider: its id, and how it is made, or undefined when it is not switched on. */
const BUILT_IN: readonly (readonly [ProviderId, (deps: ProviderDeps) => ProviderAdapter | undefined])[] = [
  [SANDBOX_ID, createSandbox],
  [OPENAI_ID, createOpenAi],
  [FAL_ID, createFal],
];

/** Every provider there can be, switched on or not. */
export const PROVIDER_IDS: readonly ProviderId[] = BUILT_IN.map(([id]) => id);

/** The providers that are switched on. Nothing is opened before one is first used. */
export function createProviders(deps: ProviderDeps): ProviderAdapter[] {
  return BUILT_IN.flatMap(([, create]) => create(deps) ?? []);
}

function createSandbox({ config, clock }: ProviderDeps): ProviderAdapter | undefined {
  const { enabled, concurrency, workers } = config.sandbox;
  if (!enabled) return undefined;
  return createSandboxProvider({ directory: join(config.dataDir, "sandbox"), clock, concurrency, workers });
}

function createOpenAi({ config, clock }: ProviderDeps): ProviderAdapter | undefined {
  const { key, ...settings } = config.providers.openai;
  return key && createOpenAiProvider({ ...settings, apiKey: key.reveal(), clock });
}

function createFal({ config, clock }: ProviderDeps): ProviderAdapter | undefined {
  const { key, ...settings } = config.providers.fal;
  return key && createFalProvider({ ...settings, apiKey: key.reveal(), clock });
}
