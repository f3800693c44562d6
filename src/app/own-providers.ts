import { join } from "node:path";
import { type Config, ConfigError } from "../config/config.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Log } from "../domain/ports/runtime.ts";
import { createPrivateUrlCheck } from "../egress/private-url.ts";
import { defineDeclared } from "../providers/declared/definition.ts";
import { FORM_BYTES, type Form } from "../providers/declared/form.ts";
import { headOf } from "../providers/declared/head.ts";
import { type OwnFinding, type OwnForm, OwnForms } from "../providers/declared/own-forms.ts";
import type { FormText, ReadResult } from "../providers/declared/read-form.ts";
import type { ProviderDefinition } from "../providers/definition.ts";
import { type CreateDeps, createAccounts, PROVIDERS } from "../providers/registry.ts";
import { type OwnFile, readOwnFiles } from "../toolkit/own-files.ts";
import { readCheckedForms } from "./checked-forms.ts";
import { createFormReading } from "./own-form-reading.ts";
import { OWN_PROVIDERS } from "./settings.ts";

/** A provider that the data folder describes, with its accounts that are switched on. */
export interface OwnProvider {
  readonly form: OwnForm;
  readonly definition: ProviderDefinition;
  readonly adapters: readonly ProviderAdapter[];
}

/** The providers of a data folder as they are in force, and what is wrong with files, a line each. */
export interface OwnProviders {
  readonly providers: readonly OwnProvider[];
  readonly problems: readonly string[];
}

export interface OwnProvidersDeps extends Omit<CreateDeps, "config"> {
  readonly log: Log;
  /** Called after files were taken. `isSame`: the providers are those of before. */
  readonly onTaken: (own: OwnProviders, isSame: boolean) => void;
}

const BUILT_IN = PROVIDERS.map(({ id }) => String(id));

/** Takes the files that describe providers. A broken one is told, and leaves its last good text in force. */
export function createOwnProviders(config: Config, deps: OwnProvidersDeps) {
  const { log, onTaken } = deps;
  const reading = createFormReading();
  const checked = readCheckedForms(config.dataDir);
  const { known } = checked;
  const forms = new OwnForms({
    known,
    builtIn: BUILT_IN,
    read: reading.read,
    refuseAddress: refuseAddress(config),
  });
  const told = createTelling(log);
  let current = new Map<string, OwnProvider>();
  return {
    stop: reading.stop,
    /** To be called again only when it is done. */
    async take(files: readonly OwnFile[]): Promise<void> {
      const { forms: taken, checked: inUse, findings } = await forms.take(files);
      checked.keep(inUse);
      const problems = findings.map(textOf);
      told(problems);
      const next = new Map<string, OwnProvider>();
      for (const form of taken) {
        const provider = await provided(form, current.get(form.file), config, deps);
        if (provider !== undefined) next.set(form.file, provider);
      }
      const same = isSame(current, next);
      const changes = changesOf(current, next);
      current = next;
      onTaken({ problems, providers: [...next.values()] }, same);
      if (!same) log.info(changes, "own providers are in force");
    },
  };
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

type OwnConfig = Pick<Config, "dataDir" | "egress" | "providerConfig">;

/** The providers that a data folder describes, for commands that need no server, and what is wrong with files. */
export async function readOwnProviders(config: OwnConfig): Promise<{
  readonly providers: readonly { readonly form: OwnForm; readonly definition: ProviderDefinition }[];
  readonly problems: readonly string[];
}> {
  const files = readOwnFiles(join(config.dataDir, OWN_PROVIDERS), { maxBytes: FORM_BYTES });
  const { known } = readCheckedForms(config.dataDir);
  const forms = new OwnForms({
    known,
    builtIn: BUILT_IN,
    read: readHere,
    refuseAddress: refuseAddress(config),
  });
  const { forms: taken, findings } = await forms.take(files);
  const providers = taken.map((form) => ({
    form,
    definition: defineDeclared(headOf(form.form), async () => form),
  }));
  return { providers, problems: findings.map(textOf) };
}

async function readHere(texts: readonly FormText[]): Promise<readonly ReadResult[]> {
  const { readForms } = await import("../providers/declared/read-form.ts");
  return readForms(texts);
}

/** Tells each finding once, for as long as it is there. */
function createTelling(log: Log) {
  let told = new Set<string>();
  return (lines: readonly string[]): void => {
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
