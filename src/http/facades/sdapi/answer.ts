import type { JsonObject } from "../../../domain/json.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { type AnswerDeps, openImages } from "../../compat/answer.ts";
import { base64Pieces, bodyInPieces } from "../../pieces.ts";
import type { Reply } from "../../reply.ts";
import { infotextOf } from "./infotext.ts";
import { withText } from "./png-text.ts";

/** The parts of a call's request that its answer reports. */
export interface Asked {
  /** Its fields, without pictures. */
  readonly body: JsonObject;
  /** The fields as they are repeated. */
  readonly parameters: JsonObject;
  readonly model: string;
  /** See Translated. */
  readonly taken: JsonObject;
  readonly ignored: readonly string[];
  readonly fitted: readonly string[];
}

interface Picture {
  readonly content: Blob;
  readonly asset: Pick<Asset, "type">;
  readonly infotext: string;
}

/** How to answer a call. */
interface Answering {
  readonly asked: Asked;
  /** Whether an earlier call made the task. */
  readonly isJoined: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the reader leaves during an answer that is read from disk. */
  readonly leave: () => void;
}

/** Answers with the pictures of a completed task, each with its text where it is a PNG; without pictures for a caller that wants none. */
export async function picturesReply(
  deps: AnswerDeps,
  task: TaskSummary,
  { asked, isJoined, headers, leave }: Answering,
): Promise<Reply> {
  const stored = await Promise.all(task.results.map(({ assetId }) => deps.tasks.assetById(assetId)));
  const assets = stored.filter((asset) => asset !== undefined);
  const told = isJoined && asked.taken.seed !== undefined ? await withSeedOf(deps, task, asked) : asked;
  const infotexts = assets.map((asset, i) => infotextFor(asset, told, i));
  const pieces = answerPieces(
    asked.body.send_images === false ? [] : await picturesOf(deps, task, infotexts),
    asked.parameters,
    infoOf(task, told, assets, infotexts),
  );
  const files = asked.body.send_images === false ? [] : assets.map(({ sizeBytes }) => ({ size: sizeBytes }));
  const { body, over } = await bodyInPieces(pieces, files, leave);
  const isMet = assets.every(
    ({ width, height }) => isAsked(asked.body.width, width) && isAsked(asked.body.height, height),
  );
  const adjusted = [...asked.fitted, ...(isMet ? [] : ["width", "height"])];
  return {
    status: 200,
    headers: {
      "Content-Type": "application/json",
      "X-Task-Id": task.id,
      ...(adjusted.length > 0 && { "X-Svc-Adjusted": adjusted.join(", ") }),
      ...(task.charged !== undefined && { "X-Request-Cost": formatAmount(task.charged) }),
      ...headers,
    },
    body,
    over,
    log: { task: task.id, model: task.model },
  };
}

/** The answer to a call that was interrupted: that server then answers with what it has, and here nothing is left. */
export function interruptedReply(
  taskId: string,
  asked: Asked,
  headers: Readonly<Record<string, string>>,
): Reply {
  const info = JSON.stringify({ ...infoFacts(asked, []), svc: { task_id: taskId, interrupted: true } });
  return {
    status: 200,
    headers: {
      "Content-Type": "application/json",
      "X-Task-Id": taskId,
      "X-Request-Cost": "0.000000",
      ...headers,
    },
    body: JSON.stringify({ images: [], parameters: asked.parameters, info }),
  };
}

const isAsked = (asked: unknown, made: number) => asked === undefined || asked === made;

/** A request that was sent again has the seed of the first one, where it leaves that to chance. */
async function withSeedOf(
  { tasks }: { readonly tasks: Pick<TaskStore, "requestOf"> },
  task: TaskSummary,
  asked: Asked,
): Promise<Asked> {
  const seed = (await tasks.requestOf(task))?.parameters.seed;
  return { ...asked, taken: { ...asked.taken, seed } };
}

async function picturesOf(
  deps: AnswerDeps,
  task: TaskSummary,
  infotexts: readonly string[],
): Promise<Picture[]> {
  const opened = await openImages(deps, task);
  return opened.map(({ asset, content }, i) => ({ asset, content, infotext: infotexts[i] ?? "" }));
}

async function* answerPieces(pictures: readonly Picture[], parameters: JsonObject, info: JsonObject) {
  yield '{"images":[';
  for (const [i, { content, asset, infotext }] of pictures.entries()) {
    yield i === 0 ? '"' : ',"';
    const texted = asset.type === "image/png" ? await withText(content, "parameters", infotext) : undefined;
    yield* texted === undefined ? base64Pieces(content) : base64Pieces(texted.rest, texted.before);
    yield '"';
  }
  yield `],"parameters":${JSON.stringify(parameters)},"info":${JSON.stringify(JSON.stringify(info))}}`;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function infotextFor(
  { width, height }: Pick<Asset, "width" | "height">,
  { body, model, taken }: Asked,
  index: number,
): string {
  return infotextOf({
    ...{ prompt: textOf(body.prompt), negativePrompt: textOf(body.negative_prompt), width, height, model },
    taken: { ...taken, seed: seedAt(taken, index) },
  });
}

/** Only that of the first picture is known. */
function seedAt({ seed }: JsonObject, index: number) {
  return index === 0 && typeof seed === "number" ? seed : undefined;
}

function infoOf(
  task: TaskSummary,
  asked: Asked,
  assets: readonly Asset[],
  infotexts: readonly string[],
): JsonObject {
  return {
    ...infoFacts(asked, assets),
    infotexts,
    job_timestamp: stampOf(task.completedAt ?? task.createdAt),
    svc: { task_id: task.id, ignored: asked.ignored },
  };
}

/** What that server reports about how pictures were made. -1 stands for an unknown seed. */
function infoFacts({ body, model, taken }: Asked, assets: readonly Asset[]): JsonObject {
  const [first] = assets;
  const each = <T>(told: (index: number) => T) => assets.map((_, i) => told(i));
  const prompt = textOf(body.prompt);
  const negativePrompt = textOf(body.negative_prompt);
  return {
    ...{ prompt, all_prompts: each(() => prompt) },
    ...{ negative_prompt: negativePrompt, all_negative_prompts: each(() => negativePrompt) },
    ...{ seed: seedAt(taken, 0) ?? -1, all_seeds: each((i) => seedAt(taken, i) ?? -1) },
    ...{ subseed: -1, all_subseeds: each(() => -1), subseed_strength: 0 },
    ...{ width: first?.width ?? body.width ?? null, height: first?.height ?? body.height ?? null },
    ...{ sampler_name: taken.sampler_name ?? body.sampler_name ?? body.sampler_index ?? "" },
    ...{ cfg_scale: taken.cfg_scale ?? body.cfg_scale ?? null, steps: taken.steps ?? body.steps ?? null },
    ...{ batch_size: body.batch_size ?? 1, restore_faces: false, face_restoration_model: null },
    ...{ sd_model_name: model, sd_model_hash: null, sd_vae_name: null, sd_vae_hash: null },
    ...{ seed_resize_from_w: -1, seed_resize_from_h: -1 },
    ...{ denoising_strength: taken.denoising_strength ?? null, extra_generation_params: {} },
    ...{ index_of_first_image: 0, infotexts: [], styles: body.styles ?? [] },
    ...{ clip_skip: taken.clip_skip ?? 1, is_using_inpainting_conditioning: false },
  };
}

/** `20261127045130` */
export function stampOf(at: number): string {
  return new Date(at).toISOString().replace(/\D/g, "").slice(0, 14);
}
