import { join } from "node:path";
import type { ProviderId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createSandboxProvider, SANDBOX_ID } from "./sandbox/adapter.ts";

/** What providers read of the service's settings. */
export interface ProviderSettings {
  readonly dataDir: string;
  readonly sandbox: { readonly enabled: boolean; readonly concurrency: number; readonly workers: number };
}

export interface ProviderDeps {
  readonly config: ProviderSettings;
  readonly clock: Clock;
}

/** Every built-in provider: its id, and how it is made, or undefined when it is not switched on. */
const BUILT_IN: readonly (readonly [ProviderId, (deps: ProviderDeps) => ProviderAdapter | undefined])[] = [
  [SANDBOX_ID, createSandbox],
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
