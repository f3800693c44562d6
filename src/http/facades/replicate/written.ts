import { haveSameMembers, type JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { Catalog } from "../../../domain/ports/catalog.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { propertyOf } from "../../../service/model-fields.ts";
import { inOnePiece } from "../../../toolkit/in-one-piece.ts";
import { OWNER } from "../models.ts";
import { BASE } from "./manners.ts";
import { type VersionDeps, versionOf } from "./versions.ts";

/** Where a prediction's events can be read without a key. */
export type StreamPath = (task: Pick<TaskSummary, "id">) => string;

export interface WritingDeps extends Pick<VersionDeps, "secrets"> {
  readonly catalog: Pick<Catalog, "find">;
  readonly streamPath: StreamPath;
}

/** What of a task says what was asked for. */
export type AskedTask = Pick<TaskSummary, "id" | "createdAt" | "model">;

export const NO_FILES: JsonObject = {};

/** What stands before and between the ids in the addresses of a prediction, for one origin. */
interface Addresses {
  readonly origin: string;
  readonly get: string;
  readonly cancel: string;
  readonly stream: string;
  readonly web: string;
}

function addressesAt(origin: string): Addresses {
  const prediction = `${origin}${BASE}/predictions/`;
  return {
    origin,
    get: inOnePiece(',"urls":{"get":"', prediction),
    cancel: inOnePiece('","cancel":"', prediction),
    stream: inOnePiece('/cancel","stream":"', origin),
    web: inOnePiece('","web":"', origin, "/console/tasks/"),
  };
}

/** Nearly all callers reach this service by the same. */
let addresses = addressesAt("");

/**
 * A prediction as JSON, with more members in between. Ids, times and addresses need no escaping: a host was checked when it came.
 */
export function written(
  deps: WritingDeps,
  { id, createdAt, model }: AskedTask,
  origin: string,
  {
    request,
    files,
    between,
  }: { readonly request: GenerationRequest; readonly files: JsonObject; readonly between: string },
): string {
  const { cancelAt } = request;
  const words = wordsOf(deps, model);
  const input = inputOf(request, words, files);
  const deadline = cancelAt === undefined ? "" : `"deadline":"${iso(cancelAt)}",`;
  if (addresses.origin !== origin) addresses = addressesAt(origin);
  const { get, cancel, stream, web } = addresses;
  const path = deps.streamPath({ id });
  // One text of many parts is joined sooner than one of texts that are joined themselves.
  return `{"id":"${id}${words.named}${input}},"source":"api",${deadline}"created_at":"${iso(createdAt)}"${between}${get}${id}${cancel}${id}${stream}${path}${web}${id}"}}`;
}

/** What predictions of one model have alike. */
interface Words {
  /** What stands between a prediction's id and its input. */
  readonly named: string;
  readonly takesMany: boolean;
  /** What the latest prediction was asked for but its prompt, which most leave to the model, and the members that say so. */
  latest: Pick<GenerationRequest, "n" | "parameters"> & { readonly text: string };
}

const words = new WeakMap<Model, Words>();
const NONE = { n: Number.NaN, parameters: {}, text: "" };

function wordsOf(deps: WritingDeps, id: TaskSummary["model"]): Words {
  const model = deps.catalog.find(id);
  const known = model && words.get(model);
  if (known !== undefined) return known;
  const name = JSON.stringify(`${OWNER}/${id}`);
  const version = model === undefined ? "hidden" : versionOf(deps, model);
  const made: Words = {
    named: inOnePiece('","model":', name, ',"version":"', version, '","input":{'),
    takesMany: model !== undefined && takesMany(model),
    latest: NONE,
  };
  if (model !== undefined) words.set(model, made);
  return made;
}

export function takesMany(model: Model): boolean {
  return propertyOf(model, "n") !== undefined;
}

/** What a task was asked for, by the model's own names: the members of an object, as JSON. */
function inputOf({ prompt, n, parameters }: GenerationRequest, of: Words, files: JsonObject): string {
  if (of.latest.n !== n || !haveSameMembers(of.latest.parameters, parameters)) {
    const count = n > 1 || of.takesMany ? { n } : {};
    of.latest = { n, parameters, text: membersAfter({ ...count, ...parameters }) };
  }
  const given = files === NO_FILES ? of.latest.text : of.latest.text + membersAfter(files);
  return prompt === undefined ? given.slice(1) : `"prompt":${JSON.stringify(prompt)}${given}`;
}

/** The members of an object as JSON, after a comma if there are any. */
function membersAfter(object: JsonObject): string {
  const members = JSON.stringify(object).slice(1, -1);
  return members === "" ? "" : `,${members}`;
}

const latest = { ms: Number.NaN, text: "" };

/** ISO 8601. Tasks that are created together have the same time, which is written once. */
export function iso(ms: number): string {
  if (latest.ms !== ms) Object.assign(latest, { ms, text: new Date(ms).toISOString() });
  return latest.text;
}
