import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { ProviderConfig } from "../config/providers.ts";
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
import { signOf } from "./live/sign.ts";
import { createFormReading } from "./own-form-reading.ts";
import { type ProviderProblem, settingsOf } from "./provider-settings.ts";
import { OWN_PROVIDERS } from "./settings.ts";

/** A provider that the data folder describes, with its accounts that are switched on. */
export interface OwnProvider {
  readonly form: OwnForm;
  readonly definition: ProviderDefinition;
  /** Its settings, as they were when it was taken up. */
  readonly given: ProviderConfig;
  readonly adapters: readonly ProviderAdapter[];
}

/** The providers of a data folder as they are in force, and what is wrong with files and settings. */
export interface OwnProviders {
  readonly providers: readonly OwnProvider[];
  readonly problems: readonly ProviderProblem[];
}

export interface OwnProvidersDeps extends Omit<CreateDeps, "config"> {
  readonly log: Log;
  /** Called after files were taken. `isSame`: the providers are those of before. */
  readonly onTaken: (own: OwnProviders, isSame: boolean) => void;
}

const BUILT_IN = PROVIDERS.map(({ id }) => String(id));

/**
 * Takes the files that describe providers. A broken file is reported, and its last good text stays in force. If the settings cannot
 * be used, the provider stays as it was, or off.
 */
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
  const told = createTelling((line) => log.warn({}, line));
  const noted = createTelling((line) => log.info({}, line));
  let current = new Map<string, OwnProvider>();
  return {
    stop: reading.stop,
    /** Call it again only after it is done. */
    async take(files: readonly OwnFile[]): Promise<void> {
      const { forms: taken, checked: inUse, findings } = await forms.take(files);
      checked.keep(inUse);
      const next = new Map<string, OwnProvider>();
      const problems = findings.map(problemOf);
      for (const form of taken) {
        const { provider, problems: others } = await provided(form, current.get(form.file), config, deps);
        if (provider !== undefined) next.set(form.file, provider);
        problems.push(...others.map((text) => ({ file: form.file, text })));
      }
      told(problems.map(({ text }) => text));
      noted([...next.values()].flatMap(({ given }) => given.notes));
      const same = isSame(current, next);
      const changes = changesOf(current, next);
      current = next;
      onTaken({ problems, providers: [...next.values()] }, same);
      if (!same) log.info(changes, "own providers are in force");
    },
  };
}

/** What is to be in force of a form, and what is wrong with its settings, a line each. */
async function provided(
  form: OwnForm,
  before: OwnProvider | undefined,
  config: Config,
  deps: OwnProvidersDeps,
): Promise<{ readonly provider: OwnProvider | undefined; readonly problems: readonly string[] }> {
  const isSameForm = before?.form === form;
  const definition = isSameForm ? before.definition : defineDeclared(headOf(form.form), async () => form);
  const { given, problems } = settingsOf(definition, config);
  if (isSameForm && given !== undefined && signOf(given, config) === signOf(before.given, config))
    return { provider: before, problems: before.given.warnings };
  if (given === undefined) return { provider: before, problems: staying(definition, problems, before) };
  const adapters = await createAccounts(definition, given, { ...deps, config });
  return { provider: { form, definition, given, adapters }, problems };
}

/** Adds to each problem with its settings what comes of it. */
function staying({ id }: ProviderDefinition, problems: readonly string[], before?: OwnProvider): string[] {
  return problems.map(
    (line) => `${line} The provider ${id} stays ${before === undefined ? "off" : "as it was"}.`,
  );
}

/** Says why a form's own address may not be used: it is private, and the operator has not allowed it. */
function refuseAddress(config: OwnConfig) {
  return (url: string, form: Form): string | undefined => {
    // The ranges may change while the server runs.
    const reason = createPrivateUrlCheck(config.egress.allow)(url);
    if (reason === undefined) return undefined;
    const told = `cannot be used: ${reason}; allow it with egress.allow`;
    // A setting replaces only these.
    if (![form.base, ...Object.values(form.regions ?? {})].includes(url)) return told;
    if (isGivenBySettings(form, config)) return undefined;
    return `${told}, or give it in svc.yaml as providers.${form.provider}.base_url`;
  };
}

function isGivenBySettings(form: Form, config: OwnConfig): boolean {
  return settingsOf(definitionOf(form), config).given?.values.baseUrl !== undefined;
}

/** The definition of a form that will not be used. */
function definitionOf(form: Form): ProviderDefinition {
  return defineDeclared(headOf(form), () => Promise.reject(new Error("The form is not used here.")));
}

type OwnConfig = Pick<Config, "dataDir" | "egress" | "providerConfig">;

/** A provider that a data folder describes, with its settings where they can be used. */
export interface ReadProvider {
  readonly form: OwnForm;
  readonly definition: ProviderDefinition;
  readonly given: ProviderConfig | undefined;
}

/** The providers that a data folder describes, for commands that need no server, and what is wrong with files and settings. */
export async function readOwnProviders(config: OwnConfig): Promise<{
  readonly providers: readonly ReadProvider[];
  readonly problems: readonly ProviderProblem[];
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
  const problems = findings.map(problemOf);
  const providers = taken.map((form) => {
    const definition = defineDeclared(headOf(form.form), async () => form);
    const { given, problems: lines } = settingsOf(definition, config);
    const texts = given === undefined ? staying(definition, lines) : lines;
    problems.push(...texts.map((text) => ({ file: form.file, text })));
    return { form, definition, given };
  });
  return { providers, problems };
}

async function readHere(texts: readonly FormText[]): Promise<readonly ReadResult[]> {
  const { readForms } = await import("../providers/declared/read-form.ts");
  return readForms(texts);
}

/** Logs each line once, for as long as it stays. */
function createTelling(tell: (line: string) => void) {
  let told = new Set<string>();
  return (lines: readonly string[]): void => {
    for (const line of new Set(lines)) if (!told.has(line)) tell(line);
    told = new Set(lines);
  };
}

function problemOf({ file, line, column, message, keepsEarlier }: OwnFinding): ProviderProblem {
  const effect = keepsEarlier ? "the provider stays as it last was" : "the provider is left out";
  return { file, text: `${OWN_PROVIDERS}/${file}:${line}:${column}: ${message}; ${effect}` };
}

/** Ids of providers that are new or changed, and of those that were removed. */
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
