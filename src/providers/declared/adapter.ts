import type { ProviderId } from "../../domain/ids.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { Egress } from "../../domain/ports/egress.ts";
import { type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { type ProviderAccount, ratesOf } from "../account.ts";
import { fetchFromAnywhere } from "../kit/media.ts";
import { cancelDeclared } from "./cancel.ts";
import type { CompiledForm } from "./compiled-form.ts";
import { baseOf, type Connection, type ConnectionDeps, connect } from "./connection.ts";
import type { Flow, LimitsForm } from "./form.ts";
import { headOf } from "./head.ts";
import { needsAddresses } from "./input-addresses.ts";
import { type Asking, pollDeclared } from "./job.ts";
import type { LoadedForm } from "./loaded.ts";
import { perMinute } from "./rates.ts";
import { recoverDeclared } from "./recovery.ts";
import { verifyDeclared } from "./signed-calls.ts";
import { type Submitting, submitDeclared } from "./submission.ts";
import { testDeclared } from "./test-call.ts";
import { createUploads } from "./uploads.ts";
import type { UsedForms } from "./used-forms.ts";

export interface DeclaredDeps extends ConnectionDeps {
  readonly id: ProviderId;
  /** The form in force. */
  readonly form: LoadedForm;
  /** Stores the forms with which tasks began; absent: none is stored. */
  readonly used?: UsedForms | undefined;
  readonly account: ProviderAccount;
  /** Making a task twice harms nobody. */
  readonly isRepeatSafe?: boolean | undefined;
  /** For outputs at hosts that the form does not name. */
  readonly fetchPublic?: Egress["fetchMedia"] | undefined;
  /** Called with a status word that the form does not contain. */
  readonly onUnknownWord?: ((word: string) => void) | undefined;
}

/** How an account was reached when a task began. The task's adapter uses this until the task ends. */
interface Terms {
  readonly form: string;
  readonly base: string;
  readonly region?: string;
}

/** One account of a provider that a form describes. */
export function createDeclaredProvider(deps: DeclaredDeps): ProviderAdapter {
  const { account, form: loaded } = deps;
  const { region } = account;
  const own: Terms = {
    ...{ form: loaded.hash, base: baseOf(loaded.form, account) },
    ...(region === undefined ? {} : { region }),
  };
  const earlier = new Map<string, ProviderAdapter>();
  const adapter: ProviderAdapter = {
    ...createAt(deps, loaded, own),
    terms() {
      deps.used?.keep(loaded);
      return { ...own };
    },
    withTerms(given) {
      const terms = readTerms(given) ?? own;
      const key = JSON.stringify([terms.form, terms.base, terms.region]);
      if (key === JSON.stringify([own.form, own.base, own.region])) return adapter;
      const form = terms.form === own.form ? loaded : (deps.used?.find(terms.form) ?? loaded);
      return earlier.getOrInsertComputed(key, () => createAt(deps, form, terms));
    },
  };
  return adapter;
}

function readTerms(given: Json): Terms | undefined {
  const { form, base, region } = isJsonObject(given) ? given : {};
  if (typeof form !== "string" || typeof base !== "string") return undefined;
  return { form, base, ...(typeof region === "string" ? { region } : {}) };
}

function createAt(deps: DeclaredDeps, { form, compiled }: LoadedForm, terms: Terms): ProviderAdapter {
  const { account } = deps;
  let opened: Opened | undefined;
  const open = () => {
    opened ??= openAt(deps, compiled(), terms);
    return opened;
  };
  const flows = Object.values(form.flows ?? { "": {} }).map((flow): Flow => ({ ...form, ...flow }));
  const has = (part: keyof Flow) => flows.some((flow) => flow[part] !== undefined);
  const { limits = {} } = form;
  const isOwnBase = [form.base, ...Object.values(form.regions ?? {})].includes(terms.base);
  const verifyHook = verifyDeclared(form, { ...deps, isOwnBase }, open);
  return {
    id: deps.id,
    lane: account.lane,
    repeatIsSafe: deps.isRepeatSafe,
    submitIsIdempotent: flows.every(({ submit }) => submit?.idempotent !== undefined),
    concurrency: account.concurrency ?? headOf(form).concurrency,
    rates: ratesOf(account, usualRates(limits)),
    // A relay in front of the upstream may have limits of its own.
    limitsByModel: limits.by_model === true && isOwnBase,
    needsInputUrls: needsAddresses(form),
    submit: async (request, signal) => {
      signal.throwIfAborted();
      return submitDeclared(open(), request, signal);
    },
    ...(has("poll") && { poll: (operation, signal) => pollDeclared(open(), operation, signal) }),
    ...(has("cancel") && { cancel: (operation, signal) => cancelDeclared(open(), operation, signal) }),
    ...(has("recover") && { recover: (request, signal) => recoverDeclared(open(), request, signal) }),
    ...(verifyHook !== undefined && { verifyHook }),
    ...(form.test !== undefined && { test: (signal) => testDeclared(open(), signal) }),
    fetchOutput: async (ref, signal) => fetchOutput(deps, open().connection, ref, signal),
  } satisfies ProviderAdapter;
}

type Opened = Submitting & Asking;

function openAt(deps: DeclaredDeps, compiled: CompiledForm, { base, region }: Terms): Opened {
  const { account, clock, onUnknownWord } = deps;
  const secrets = Object.entries(account.secrets).map(([name, secret]) => [name, secret.reveal()]);
  const access = { region, proxy: account.proxy, secrets: Object.fromEntries(secrets) };
  const connection = connect(compiled, access, base, deps);
  const uploads = createUploads(compiled, connection, clock);
  return { ...{ compiled, connection, uploads, onUnknownWord, base }, now: () => clock.now() };
}

function usualRates({ submits, polls }: LimitsForm) {
  return { submissionsPerMinute: perMinute(submits), pollsPerMinute: perMinute(polls) };
}

async function fetchOutput(
  { fetchPublic }: DeclaredDeps,
  { media, isMediaAnywhere, placeOf, upstream }: Connection,
  ref: Json,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { url, kind } = isJsonObject(ref) ? ref : {};
  if (typeof url !== "string" || (kind !== "image" && kind !== "video"))
    throw new ProviderError("fail", "FINALIZATION_FAILED", `${upstream.name}: no such output`);
  const file = { url: placeOf(url), maxBytes: MAX_OUTPUT_BYTES[kind] };
  return fetchFromAnywhere(media, isMediaAnywhere ? fetchPublic : undefined, file, signal);
}
