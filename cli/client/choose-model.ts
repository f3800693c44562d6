import type { JsonObject } from "../../src/domain/json.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { requestProblem } from "../flags/check-request.ts";
import type { GivenRequest } from "../flags/request.ts";
import { type Estimate, estimateOf } from "../format/estimate-view.ts";
import type { Kind } from "./answer.ts";
import type { Client } from "./client.ts";
import { type ModelView, modelOf } from "./model.ts";

/** What a model must be able to do, and the request's additional fields. */
export interface Wanted {
  readonly kind: Kind;
  /** `text-to-image` */
  readonly mode: string;
  /** What the mode does, for people: "makes images from text". */
  readonly does: string;
  /** Further fields for one model. @throws Failure when it does not take them */
  readonly fieldsFor?: ((model: ModelView) => JsonObject) | undefined;
}

/** A model, and the price of the request with it. */
export interface Choice {
  readonly model: ModelView;
  readonly body: JsonObject;
  /** Absent where the server gives none. */
  readonly estimate: Estimate | undefined;
  /** How many models that take the request were considered. */
  readonly among: number;
}

type Asked = Pick<Client, "allModels" | "model" | "estimate">;

/** These models draw without a provider, and are no AI. */
const SANDBOX = /^sandbox-/;

/**
 * Finds the model for a request: the one it names, or else the cheapest available model for this request that takes it and does what
 * is wanted. Sandbox models come last. Among equally cheap models, the one that the server lists first wins.
 *
 * @throws Failure when the named model, or every one, refuses the request
 */
export async function chooseModel(client: Asked, request: GivenRequest, wanted: Wanted): Promise<Choice> {
  if (request.model !== undefined) return await look(client, request, request.model, wanted);
  const listed = (await client.allModels()).filter((each) => fits(each, wanted));
  if (listed.length === 0) {
    const message = `No model that is available here ${wanted.does}.`;
    throw new Failure(EXIT.notFound, "model_not_available", message, {
      hint: "`svc models list --all` lists every model and what it does.",
    });
  }
  const looks = await Promise.all(
    listed.map(({ id }) => look(client, request, String(id), wanted).catch(asRefusal)),
  );
  const choices = looks.filter((each): each is Choice => !(each instanceof Failure));
  const [best] = choices.toSorted((a, b) => rankOf(a) - rankOf(b) || costOf(a) - costOf(b));
  if (best !== undefined) return { ...best, among: choices.length };
  throw looks.find((each) => each instanceof Failure) ?? new Error("No model was looked at.");
}

async function look(client: Asked, request: GivenRequest, id: string, wanted: Wanted): Promise<Choice> {
  const model = modelOf(await client.model(id), id);
  if (model.kind !== wanted.kind) throw otherKind(model, wanted);
  const body = await request.bodyFor(model, wanted.fieldsFor?.(model));
  const problem = requestProblem(model, body, request.nameOf);
  if (problem !== undefined) throw problem;
  return { model, body, estimate: await estimateFor(client, model, body), among: 1 };
}

/** The price of a request. Its media are not sent, because an estimate needs none. */
export async function estimateFor(
  client: Pick<Client, "estimate">,
  model: ModelView,
  body: JsonObject,
): Promise<Estimate | undefined> {
  const media = new Set(model.inputs.map(({ field }) => field));
  const priced = Object.fromEntries(Object.entries(body).filter(([name]) => !media.has(name)));
  try {
    return estimateOf(await client.estimate(priced));
  } catch (error) {
    // Servers of another version may have no estimates.
    if (error instanceof Failure && error.code === "not_found") return undefined;
    throw error;
  }
}

function fits({ kind, modes, available }: JsonObject, wanted: Wanted): boolean {
  return kind === wanted.kind && available !== false && Array.isArray(modes) && modes.includes(wanted.mode);
}

/** A model that refuses the request is skipped; any other error ends the command. */
function asRefusal(error: unknown): Failure {
  const refusals: readonly number[] = [EXIT.usage, EXIT.rejected, EXIT.notFound];
  if (error instanceof Failure && refusals.includes(error.exitCode)) return error;
  throw error;
}

const rankOf = ({ model }: Choice): number => (SANDBOX.test(model.id) ? 1 : 0);
const costOf = ({ estimate }: Choice): number => Number(estimate?.max_cost ?? Number.POSITIVE_INFINITY);

function otherKind({ id, kind }: ModelView, wanted: Wanted): Failure {
  const message = `${id} makes ${kind}s, not ${wanted.kind}s.`;
  return new Failure(EXIT.usage, "usage", message, {
    hint: `\`svc ${kind} PROMPT -m ${id}\` makes ${kind === "image" ? "an" : "a"} ${kind}.`,
  });
}
