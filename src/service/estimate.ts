import { allowsFeature, type Feature } from "../domain/access.ts";
import type { Principal } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { Model, PriceUnit } from "../domain/model.ts";
import { type Micros, toMicros } from "../domain/money.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { type Forecast, forecast, lineAmount, pricedParameters, type Quote } from "../domain/pricing.ts";
import type { MediaInput, TaskKind } from "../domain/request.ts";
import type { UsualDuration } from "../domain/usage.ts";
import { inCallersWords, type ModelBody } from "./compat-request.ts";
import { toGenerationRequest } from "./generation-request.ts";
import { type ModelDeps, readCompatModel, readModel } from "./read-model.ts";
import { createUsualDurations } from "./usual-durations.ts";

/** Where requests can be estimated for, and what each takes. */
export const ESTIMATE_ENDPOINTS = {
  "/v1/images/generations": { kind: "image", feature: "images", isCompat: false },
  "/v1/videos/generations": { kind: "video", feature: "videos", isCompat: false },
  "/compat/v1/images/generations": { kind: "image", feature: "compat", isCompat: true },
  "/compat/v1/images/edits": { kind: "image", feature: "compat", isCompat: true },
} as const satisfies Readonly<Record<string, { kind: TaskKind; feature: Feature; isCompat: boolean }>>;
export type EstimateEndpoint = keyof typeof ESTIMATE_ENDPOINTS;

/** Requests that one estimate may be for. */
export const MAX_ESTIMATE_QUANTITY = 1000;

export interface EstimateRequest {
  readonly principal: Principal;
  /** The endpoint's own body; prompt and media may be left out. */
  readonly request: JsonObject;
  /** The one for the model's kind unless given. */
  readonly endpoint?: EstimateEndpoint | undefined;
  /** How many such requests, 1 unless given. */
  readonly quantity?: number | undefined;
}

/** What was taken for granted to come to a price. */
export interface Assumption {
  readonly field: string;
  readonly value: Json;
  /** `default`: of the model's schema. `inferred`: from what was left out. */
  readonly source: "default" | "inferred";
}

export interface EstimateLine {
  readonly sku: string;
  readonly unit: PriceUnit;
  /** Units of all outputs of all requests. */
  readonly quantity: number;
  readonly unitMicros: Micros;
  readonly amount: Micros;
  /** How the quantity comes about, for people. */
  readonly detail: string;
}

/** What so many equal requests would cost. */
export interface Estimate {
  readonly model: ModelId;
  readonly endpoint: EstimateEndpoint;
  readonly quantity: number;
  /** `exact`: neither more nor less is charged when everything is delivered. `range`: something between the two costs. */
  readonly status: "exact" | "range" | Exclude<Forecast["kind"], "priced">;
  /** Absent while there is no price. `most` is what the creates would hold. */
  readonly cost?: { readonly least: Micros; readonly most: Micros } | undefined;
  readonly lines: readonly EstimateLine[];
  readonly assumptions: readonly Assumption[];
  /** Fields that were left out and that the create needs. */
  readonly missing: readonly string[];
  /** Whether the account has enough for all of it now; undefined while there is no price. */
  readonly isAffordable?: boolean | undefined;
  readonly limitedBy?: "balance" | undefined;
  /** How long this server's own tasks of the model took lately, once they had started. */
  readonly duration?: UsualDuration | undefined;
  readonly priceVersion: string;
}

/** A model's create body, and what its endpoint needs besides and was left out, in the caller's words. */
export interface EstimateBody extends ModelBody {
  readonly missing?: readonly string[] | undefined;
}

export interface EstimateDeps extends ModelDeps {
  readonly accounts: Pick<AccountStore, "account">;
  readonly usage: Pick<UsageStore, "recentDurations">;
  readonly clock: Pick<Clock, "now">;
  /** Makes a model's create body of an endpoint's; the body itself unless given. */
  readonly toModelBody?: (endpoint: EstimateEndpoint, model: Model, request: JsonObject) => EstimateBody;
}

/**
 * Prices requests that were not made: by the validator and the quote of the create. Makes no task, holds nothing, asks no
 * upstream and stores no file. That the account is short of money is part of the answer.
 *
 * @throws AppError as the create of the same body, except for prompt and media that were left out
 */
export type EstimateCost = (request: EstimateRequest) => Promise<Estimate>;

export function createEstimate(deps: EstimateDeps): EstimateCost {
  const usualDuration = createUsualDurations(deps);
  const toModelBody = deps.toModelBody ?? ((_endpoint, _model, body): EstimateBody => ({ body, names: {} }));

  return async ({ principal, request, endpoint: given, quantity = 1 }) => {
    const { model, endpoint } = findModel(deps, principal, request.model, given);
    checkFeature(principal, endpoint);
    const { body, names, missing = [] } = toModelBody(endpoint, model, request);
    const whole = complete(deps, model, body, names);
    const leftOut = [...missing, ...whole.missing];
    const canonical = toGenerationRequest(model, whole.body, inputsOf(model, whole));
    const priced = forecast(model, canonical);
    const cost = priced.kind === "priced" ? times(priced, quantity) : undefined;
    return {
      model: model.id,
      endpoint,
      quantity,
      status: cost === undefined ? unpricedStatus(priced) : cost.least === cost.most ? "exact" : "range",
      cost,
      lines: priced.kind === "priced" ? linesOf(priced.quote, quantity) : [],
      assumptions: [...modeAssumption(canonical.mode, leftOut), ...defaultsTaken(model, body, whole.body)],
      missing: [...leftOut, ...(priced.kind === "needs_input" ? priced.missing : [])],
      ...(await affordability(deps, principal, cost?.most)),
      duration: await usualDuration(model.id),
      priceVersion: model.price.version,
    };
  };
}

function findModel(
  deps: ModelDeps,
  principal: Principal,
  id: unknown,
  given: EstimateEndpoint | undefined,
): { model: Model; endpoint: EstimateEndpoint } {
  const { kind, isCompat } =
    given === undefined ? { kind: undefined, isCompat: false } : ESTIMATE_ENDPOINTS[given];
  const model = isCompat ? readCompatModel(deps, principal, id) : readModel(deps, principal, id);
  const own = `/v1/${model.kind}s/generations` as const;
  if (kind === undefined || kind === model.kind) return { model, endpoint: given ?? own };
  throw new AppError(
    isCompat ? "model_not_found" : "model_not_available",
    `"${model.id}" is ${model.kind === "image" ? "an image" : "a video"} model; send this request to POST ${own}.`,
    { param: "model" },
  );
}

function checkFeature({ policy }: Principal, endpoint: EstimateEndpoint): void {
  const { feature } = ESTIMATE_ENDPOINTS[endpoint];
  if (allowsFeature(policy, feature)) return;
  throw new AppError(
    "permission_denied",
    `This API key may not use POST ${endpoint}: it lacks the feature "${feature}".`,
  );
}

/** A body as a create would have it, and what of it was left out. */
interface Whole {
  readonly body: JsonObject;
  readonly missing: readonly string[];
}

function complete(deps: ModelDeps, model: Model, body: JsonObject, names: ModelBody["names"]): Whole {
  const validated = deps.catalog.validate(model, body, { isPartial: true });
  if (validated.ok) return { body: validated.body, missing: validated.missing ?? [] };
  const refusal = new AppError("invalid_request", validated.message, { param: validated.param });
  throw inCallersWords(refusal, names);
}

/** Inputs that decide the mode. What they name is not looked at. */
function inputsOf(model: Model, { body, missing }: Whole): MediaInput[] {
  const isThere = (name: string) => missing.includes(name) || Object.hasOwn(body, name);
  const named = model.mediaFields.filter((field) => isThere(field.name));
  const fields = named.map(({ role, name }) => ({ role, param: name }));
  if (model.resultField !== undefined && isThere("task_id"))
    fields.push({ role: model.resultField.role, param: "task_id" });
  return fields.map((field) => ({ ...field, source: { kind: "url", url: "" } }));
}

function modeAssumption(mode: string, missing: readonly string[]): Assumption[] {
  const isInferred = missing.some((name) => name !== "prompt");
  return isInferred ? [{ field: "mode", value: mode, source: "inferred" }] : [];
}

/** What the price depends on, was not given, and has a default. */
function defaultsTaken(model: Model, given: JsonObject, whole: JsonObject): Assumption[] {
  return ["n", ...pricedParameters(model)].flatMap((field): Assumption[] => {
    const value = whole[field];
    return Object.hasOwn(given, field) || value === undefined ? [] : [{ field, value, source: "default" }];
  });
}

function times({ least, most }: { least: Micros; most: Micros }, quantity: number) {
  return { least: toMicros(least * quantity), most: toMicros(most * quantity) };
}

function unpricedStatus(priced: Forecast): Exclude<Forecast["kind"], "priced"> {
  return priced.kind === "needs_input" ? "needs_input" : "unpriced";
}

function linesOf(promised: Quote, quantity: number): EstimateLine[] {
  return promised.lines.map((line) => ({
    sku: line.sku,
    unit: line.unit,
    quantity: line.perOutput * promised.outputs * quantity,
    unitMicros: line.unitMicros,
    amount: toMicros(lineAmount(line, promised.outputs) * quantity),
    detail: [
      ...(line.unit === "second" ? [count(line.perOutput, "second")] : []),
      count(promised.outputs, "output"),
      ...(quantity === 1 ? [] : [count(quantity, "request")]),
    ].join(" × "),
  }));
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function affordability(
  deps: EstimateDeps,
  { accountId }: Principal,
  most: Micros | undefined,
): Promise<Pick<Estimate, "isAffordable" | "limitedBy">> {
  if (most === undefined) return {};
  const account = await deps.accounts.account(accountId);
  const isShort = account?.mode === "prepaid" && account.balance - account.held < most;
  return { isAffordable: !isShort, limitedBy: isShort ? "balance" : undefined };
}
