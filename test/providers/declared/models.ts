import { afterAll, describe, expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { AttemptId, ProviderId, TaskId } from "../../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { canTake } from "../../../src/domain/model/eligibility.ts";
import { type Model, type Route, selectMode } from "../../../src/domain/model/model.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { GenerationRequest, MediaInput } from "../../../src/domain/task/request.ts";
import { rehearsedProvider } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { openPublished } from "../../helpers/published.ts";
import { type Arrived, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";
import { problemsOf, propertiesOf, type Sent } from "./contracts.ts";
import { builtInForm } from "./harness.ts";

const catalog = createCatalog();
const PICTURE = { type: "image/png", width: 1024, height: 1024 } as const;
const FILM = { type: "video/mp4", width: 1280, height: 720, durationMs: 5000 } as const;

/** A request that a model takes, and the route that does it. */
interface Case {
  readonly model: Model;
  readonly route: Route;
  readonly request: GenerationRequest;
}

/** What a suite of one provider's models needs to know. */
export interface ModelSuite {
  readonly provider: string;
  /** The upstream's contracts, by their paths below the folder of published ones. */
  readonly contracts: readonly string[];
  /** Whether a problem, such as `/seed must be integer`, is that of a contract which the upstream has moved away from. */
  readonly isOutdated?: (problem: string, body: JsonObject) => boolean;
  /** Answers what comes before a submission, such as uploads. */
  readonly answer?: ScriptedUpstream["answer"];
}

/**
 * Every model with a route to a provider, with every set of at most two of its media fields: no input is left behind, and the
 * upstream's contract allows what is sent. In each mode, each value of each field makes a difference to what is sent.
 */
export function describeModels({
  provider: id,
  contracts,
  isOutdated = () => false,
  answer,
}: ModelSuite): void {
  const provider = id as ProviderId;
  const form = builtInForm(`${id}.yaml`);
  const models = catalog.all().filter(({ routes }) => routes.some((route) => route.provider === provider));
  const published = contracts.map(openPublished);
  const upstream = startUpstream(answer ?? (() => ({ status: 400, json: {} })));
  afterAll(async () => (await upstream).stop());

  /** Inputs that arrived before a submission. What was uploaded once is not sent again. */
  const uploaded = new Set<string>();

  /** Sends a request. @throws when the contract does not allow it */
  async function send(adapter: ProviderAdapter, each: Case): Promise<string> {
    const sent = await submit(adapter, await upstream, { each, uploaded });
    const problems = problemsOf(published, sent).filter((problem) => !isOutdated(problem, sent.body));
    expect({ ...of(each), problems }).toEqual({ ...of(each), problems: [] });
    return JSON.stringify(sent);
  }

  /** Sends a request with each value of a field. @throws when two of them make no difference */
  async function vary(adapter: ProviderAdapter, plain: Case, { scene, field, values, unvaried }: Variation) {
    const bodies = new Map<string, Json>();
    for (const value of values) {
      const varied = caseOf(plain.model, provider, { ...scene, [field]: value });
      if (varied?.route !== plain.route) continue;
      const body = await send(adapter, varied);
      const told = { ...of(varied), field, value };
      expect({ ...told, isSentAs: bodies.get(body) }).toEqual({ ...told, isSentAs: undefined });
      bodies.set(body, value);
    }
    // One value alone must differ from what is sent without it, unless it is what is meant then.
    const isTold = bodies.size !== 1 || !bodies.has(unvaried) || hasDefault(plain.model, field);
    expect({ ...of(plain), field, isTold }).toEqual({ ...of(plain), field, isTold: true });
  }

  describe(`models of ${id}`, () => {
    test("are there", () => expect(models).not.toBeEmpty());
    test.each(models.map((model) => [model.id, model] as const))(
      "%s says all that can be asked for, as the upstream wants it",
      async (_, model) => {
        const adapter = rehearsedProvider(form, (await upstream).origin, fakeClock());
        const used = new Set<Route>();
        const varied = new Set<string>();
        for (const scene of scenesOf(model)) {
          const plain = caseOf(model, provider, scene);
          if (plain === undefined) continue;
          used.add(plain.route);
          const unvaried = await send(adapter, plain);
          // A route words a mode's fields alike, whatever the files.
          const wording = `${nameOf(plain.route)} ${plain.request.mode}`;
          if (varied.has(wording)) continue;
          varied.add(wording);
          for (const [field, values] of fieldsOf(model)) {
            await vary(adapter, plain, { scene, field, values, unvaried });
          }
        }
        const routes = model.routes.filter((route) => route.provider === provider);
        expect([...used].map(nameOf).sort()).toEqual(routes.map(nameOf).sort());
      },
    );
  });
}

interface Variation {
  readonly scene: JsonObject;
  readonly field: string;
  readonly values: readonly Json[];
  /** What is sent without the field. */
  readonly unvaried: string;
}

const nameOf = ({ upstreamModel }: Route) => upstreamModel;
const of = ({ route, request }: Case) => ({
  route: route.upstreamModel,
  mode: request.mode,
  inputs: request.inputs.map(({ role }) => role),
});

/** Every set of at most two of the model's media fields; lists hold two files where they may. */
function scenesOf({ mediaFields, schema }: Model): JsonObject[] {
  const address = "https://example.com/a";
  const value = (name: string): Json => {
    const { type, maxItems } = propertiesOf(schema)[name] ?? {};
    if (type !== "array") return address;
    return maxItems === 1 ? [address] : [address, `${address}b`];
  };
  const fields = mediaFields.map(({ name }) => name);
  const sets = [
    [],
    ...fields.map((name) => [name]),
    ...fields.flatMap((a, i) => fields.slice(i + 1).map((b) => [a, b])),
  ];
  return sets.map((names) => Object.fromEntries(names.map((name) => [name, value(name)])));
}

/** The fields that hold no media, each with the values that try it out. */
function fieldsOf({ schema, mediaFields }: Model): [string, Json[]][] {
  const media = new Set([
    "model",
    "callback_url",
    "retain_seconds",
    "task_id",
    "index",
    ...mediaFields.map(({ name }) => name),
  ]);
  const fields = Object.entries(propertiesOf(schema)).filter(([name]) => !media.has(name));
  return fields.map(([name, property]) => [name, valuesOf(name, property)]);
}

function valuesOf(name: string, { type, enum: values, minimum, maximum, examples }: JsonObject): Json[] {
  if (Array.isArray(values)) return values;
  if (type === "boolean") return [true, false];
  if (typeof minimum === "number" && typeof maximum === "number") return [minimum, maximum];
  if (Array.isArray(examples)) return examples;
  if (type === "string") return ["A cat", "A crow"];
  throw new Error(`Nothing tries out ${name}`);
}

function hasDefault({ schema }: Model, field: string): boolean {
  return propertiesOf(schema)[field]?.default !== undefined;
}

/** The request as the service makes it of a body; undefined for one that the model or every route of the provider refuses. */
function caseOf(model: Model, provider: ProviderId, given: JsonObject): Case | undefined {
  const properties = propertiesOf(model.schema);
  const isMedia = (name: string) => model.mediaFields.some((field) => field.name === name);
  const needed = (model.schema.required as string[])
    .filter((name) => name !== "model" && given[name] === undefined && !isMedia(name))
    .map((name) => [name, valuesOf(name, properties[name] ?? {})[0]]);
  const prompt = properties.prompt === undefined ? {} : { prompt: "A fox" };
  const validated = catalog.validate(model, {
    model: model.id,
    ...prompt,
    ...Object.fromEntries(needed),
    ...given,
  });
  if (!validated.ok) return undefined;
  const { model: _model, prompt: text, n = 1, ...rest } = validated.body;
  const inputs = model.mediaFields.flatMap(({ name, role }) => inputsOf(name, role, rest[name]));
  const parameters = Object.fromEntries(
    Object.entries(rest).flatMap(([name, value]) =>
      value === undefined || isMedia(name) ? [] : [[name, value]],
    ),
  );
  const mode = selectMode(model, new Set(inputs.map(({ role }) => role)))?.id;
  if (mode === undefined) return undefined;
  const request: GenerationRequest = {
    ...{ kind: model.kind, model: model.id, mode, n: Number(n), parameters, inputs },
    ...(typeof text === "string" && { prompt: text }),
  };
  const route = model.routes.find((each) => each.provider === provider && canTake(each, request));
  return route && { model, route, request };
}

function inputsOf(name: string, role: MediaInput["role"], value: Json | undefined): MediaInput[] {
  const urls = value === undefined ? [] : [value].flat();
  return urls.map((url, i) => ({
    role,
    param: Array.isArray(value) ? `${name}[${i}]` : name,
    source: { kind: "url", url: String(url) },
  }));
}

/** Submits, is refused, and tells what had arrived. */
async function submit(
  adapter: ProviderAdapter,
  upstream: ScriptedUpstream,
  { each, uploaded }: { readonly each: Case; readonly uploaded: Set<string> },
): Promise<Sent> {
  const { route, request } = each;
  const attempt = "att_01jtest0000000000000000000" as AttemptId;
  const submission: SubmitRequest = {
    ...{ attempt, taskId: "task_01jtest0000000000000000000" as TaskId, request },
    ...{ upstreamModel: route.upstreamModel, wording: route.wording },
    inputs: request.inputs.map(({ role }, i): InputFile => {
      const content = new Blob([`${role} ${i + 1}`]);
      const probe = role === "video" || role === "motion" ? FILM : PICTURE;
      const painted = async () => content;
      const url = () => `https://inputs.invalid/${role} ${i + 1}`;
      return {
        ...{ ...probe, role, sha256: `${i}`.repeat(64), sizeBytes: content.size, content, url },
        ...(role === "mask" && { painted }),
      };
    }),
  };
  const before = upstream.arrived.length;
  const refusal = await adapter.submit(submission, new AbortController().signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const arrived = upstream.arrived.at(-1);
  if (arrived === undefined || upstream.arrived.length === before)
    throw refusal ?? new Error("Nothing was sent.");
  const sent = await sentBy(arrived);
  const bodies = upstream.arrived.slice(before).map(({ body }) => body.toString("latin1"));
  const submitted = bodies.pop() ?? "";
  const uploads = bodies.join();
  for (const { role, content } of submission.inputs) {
    const words = await content.text();
    const isIn = (text: string) => text.includes(words) || text.includes(btoa(words));
    if (isIn(uploads)) uploaded.add(words);
    const isThere = isIn(submitted) || uploaded.has(words);
    expect({ ...of(each), role, isThere }).toEqual({ ...of(each), role, isThere: true });
  }
  return sent;
}

async function sentBy({ method, path, headers, body }: Arrived): Promise<Sent> {
  const type = headers.get("content-type")?.split(";", 1)[0] ?? "";
  const sent = { method: method.toLowerCase(), path: path.split("?", 1)[0] ?? "", type };
  if (type === "application/json") return { ...sent, body: JSON.parse(body.toString()) as JsonObject };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const parts: Record<string, Json> = {};
  for (const name of new Set(form.keys())) {
    const values = await Promise.all(
      form.getAll(name).map((part) => (typeof part === "string" ? part : part.text())),
    );
    parts[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  return { ...sent, body: parts };
}
