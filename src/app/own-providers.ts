import { join } from "node:path";
import { type Config, ConfigError } from "../config/config.ts";
import type { ProviderId } from "../domain/ids.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Log } from "../domain/ports/runtime.ts";
import { createPrivateUrlCheck } from "../egress/private-url.ts";
import { defineDeclared } from "../providers/declared/definition.ts";
import type { Form } from "../providers/declared/form.ts";
import { headOf } from "../providers/declared/head.ts";
import {
  OWN_FORM_BYTES,
  type OwnFinding,
  type OwnForm,
  OwnForms,
  type OwnFormsOptions,
} from "../providers/declared/own-forms.ts";
import { readForm } from "../providers/declared/read-form.ts";
import type { ProviderDefinition } from "../providers/definition.ts";
import { type CreateDeps, createAccounts, PROVIDERS } from "../providers/registry.ts";
import { type OwnFile, readOwnFiles, watchOwnFiles } from "../toolkit/own-files.ts";
import type { Releases } from "./lifecycle.ts";
import { createFormReading } from "./own-form-reading.ts";
import { OWN_PROVIDERS } from "./settings.ts";

/** A provider that the data folder describes, with its accounts that are switched on. */
export interface OwnProvider {
  readonly form: OwnForm;
  readonly definition: ProviderDefinition;
  readonly adapters: readonly ProviderAdapter[];
}

export interface OwnProvidersDeps extends Omit<CreateDeps, "config"> {
  readonly log: Log;
  /** Called whenever they are others, the first time before this function returns. */
  readonly onChange: (providers: readonly OwnProvider[]) => void;
}

const CODED = PROVIDERS.map(({ id }) => String(id));

/** Follows the providers that the data folder describes. A broken file is told, and leaves its last good text in force. */
export async function followOwnProviders(
  config: Config,
  deps: OwnProvidersDeps,
  releases: Releases,
): Promise<void> {
  const { clock, log, onChange } = deps;
  const reading = createFormReading();
  const forms = new OwnForms({
    coded: CODED,
    read: reading.read,
    refuseAddress: refuseAddress(config),
  });
  const told = createTelling(log);
  let current = new Map<string, OwnProvider>();

  async function take(files: readonly OwnFile[]): Promise<void> {
    const { forms: taken, findings } = await forms.take(files);
    told(findings);
    const next = new Map<string, OwnProvider>();
    for (const form of taken) {
      const provider = await provided(form, current.get(form.file), config, deps);
      if (provider !== undefined) next.set(form.file, provider);
    }
    if (isSame(current, next)) return;
    const changes = changesOf(current, next);
    current = next;
    onChange([...next.values()]);
    log.info(changes, "own providers are in force");
  }

  let taking = Promise.resolve();
  releases.push(
    reading.stop,
    watchOwnFiles(join(config.dataDir, OWN_PROVIDERS), {
      clock,
      maxBytes: OWN_FORM_BYTES,
      onChange(files) {
        taking = taking
          .then(() => take(files))
          .catch((error: unknown) => log.error({ err: error as Error }, "own providers could not be read"));
      },
    }),
  );
  await taking;
}

/** The accounts of a form. Settings that it cannot be used with leave the provider as it was, or off. */
async function provided(
  form: OwnForm,
  before: OwnProvider | undefined,
  config: Config,
  deps: OwnProvidersDeps,
): Promise<OwnProvider | undefined> {
  if (before?.form === form) return before;
  const definition = defineDeclared(headOf(form.form), async () => form);
  try {
    const given = config.providerConfig(definition);
    return { form, definition, adapters: await createAccounts(definition, given, { ...deps, config }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    deps.log.warn(
      { provider: definition.id },
      `${error.message}; ${definition.id} stays ${before === undefined ? "off" : "as it was"}`,
    );
    return before;
  }
}

/** Says why a form's own address may not be used: it is private, and the operator has not allowed it. */
function refuseAddress(config: OwnConfig) {
  const isPrivate = createPrivateUrlCheck(config.egress.allow);
  return (url: string, form: Form): string | undefined => {
    const reason = isPrivate(url);
    if (reason === undefined || isGivenBySettings(form, config)) return undefined;
    return `cannot be used: ${reason}; allow it with egress.allow, or give it in svc.yaml as providers.${form.provider}.base_url`;
  };
}

function isGivenBySettings(form: Form, config: OwnConfig): boolean {
  try {
    return config.providerConfig(definitionOf(form)).values.baseUrl !== form.base;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** The definition of a form that is not going to be used. */
function definitionOf(form: Form): ProviderDefinition {
  return defineDeclared(headOf(form), () => Promise.reject(new Error("The form is not used here.")));
}

interface OwnReading {
  readonly read?: OwnFormsOptions["read"];
  /** Files of which a server has an earlier text in force. */
  readonly inForce?: readonly string[];
}

type OwnConfig = Pick<Config, "dataDir" | "egress" | "providerConfig">;

/** The providers that a data folder describes, for commands that need no server, and what is wrong with files. */
export async function readOwnProviders(
  config: OwnConfig,
  { read = readForm, inForce = [] }: OwnReading = {},
): Promise<{
  readonly providers: readonly { readonly form: OwnForm; readonly definition: ProviderDefinition }[];
  readonly problems: readonly string[];
}> {
  const files = readOwnFiles(join(config.dataDir, OWN_PROVIDERS), { maxBytes: OWN_FORM_BYTES });
  const forms = new OwnForms({ coded: CODED, read, refuseAddress: refuseAddress(config) });
  const { forms: taken, findings } = await forms.take(files);
  const providers = taken.map((form) => ({
    form,
    definition: defineDeclared(headOf(form.form), async () => form),
  }));
  const problems = findings.map((each) => textOf({ ...each, keepsEarlier: inForce.includes(each.file) }));
  return { providers, problems };
}

/** Tells each finding once, for as long as it is there. */
function createTelling(log: Log) {
  let told = new Set<string>();
  return (findings: readonly OwnFinding[]): void => {
    const lines = findings.map(textOf);
    for (const line of lines) if (!told.has(line)) log.warn({}, line);
    told = new Set(lines);
  };
}

function textOf({ file, line, column, message, keepsEarlier }: OwnFinding): string {
  const effect = keepsEarlier ? "the provider stays as it last was" : "the provider is left out";
  return `${OWN_PROVIDERS}/${file}:${line}:${column}: ${message}; ${effect}`;
}

/** Ids of providers that are new or otherwise than before, and of those that are gone. */
function changesOf(before: ReadonlyMap<string, OwnProvider>, after: ReadonlyMap<string, OwnProvider>) {
  const ids = (providers: Iterable<OwnProvider>) =>
    [...providers].map(({ definition }) => String(definition.id));
  const present = new Set(ids(after.values()));
  return {
    /** `house@1a2b3c4d`: the provider, and the beginning of the hash by which tasks name its form. */
    changed: [...after].flatMap(([file, each]) =>
      before.get(file) === each ? [] : [`${each.definition.id}@${each.form.hash.slice(0, 8)}`],
    ),
    removed: ids(before.values()).filter((id) => !present.has(id)),
  };
}

function isSame(one: ReadonlyMap<string, OwnProvider>, other: ReadonlyMap<string, OwnProvider>): boolean {
  return one.size === other.size && [...one].every(([file, provider]) => other.get(file) === provider);
}

/** The ids of the providers of which one is described by the data folder in place of a built-in one, or besides. */
export function allIds(own: readonly OwnProvider[]): ProviderId[] {
  return [...new Set([...PROVIDERS.map(({ id }) => id), ...own.map(({ definition }) => definition.id)])];
}
