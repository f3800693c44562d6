import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { formatAmount, sumMicros } from "../../../domain/money/money.ts";
import type { StagedFile } from "../../../domain/ports/asset-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import type { SyncCall } from "../../../service/generate-sync.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import { readJsonBody } from "../../body.ts";
import { openImages } from "../../compat/answer.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { base64Pieces, bodyInPieces } from "../../pieces.ts";
import type { Reply } from "../../reply.ts";
import { whileStaying } from "../../stays.ts";
import { acceptStaying, answerInTime, finishInTime, standingFor, waitOf } from "../../waiting.ts";
import { check } from "../../wire/check.ts";
import { inOtherWords, sentBy } from "../create.ts";
import { ENLARGING_PROMPT, factorField } from "../enlarging.ts";
import type { Calls } from "./calls.ts";
import { type DrawDeps, endOf } from "./draw.ts";
import { lenient } from "./fields.ts";
import { BASE } from "./manners.ts";
import { stagePicture } from "./pictures.ts";
import { unlessOver } from "./progress.ts";
import { upscalerNamed } from "./upscalers.ts";
import { EXTRA_BATCH, EXTRA_SINGLE } from "./wire.ts";

interface Deps extends DrawDeps, CancelTaskDeps {
  readonly clock: DrawDeps["clock"] & CancelTaskDeps["clock"];
  readonly tasks: DrawDeps["tasks"] & CancelTaskDeps["tasks"];
  readonly calls: Calls;
}

/** Whether one picture comes and goes, or several. */
type Shape = "single" | "batch";

const PATHS = { single: "extra-single-image", batch: "extra-batch-images" } as const;

/** POST /sdapi/v1/extra-single-image and extra-batch-images: pictures are made larger, where a model can. */
export async function enlarge(deps: Deps, exchange: KeyedExchange, shape: Shape): Promise<Reply> {
  const names = { model: "upscaler_1" };
  const { leave, accepted } = await inOtherWords(names, async () => {
    const call = await readCall(deps, exchange, shape);
    return acceptStaying(exchange, "waits", call, () => accept(deps, exchange, shape, call));
  });
  return whileStaying(leave, () => finish(deps, exchange, shape, accepted));
}

interface GivenPicture {
  readonly param: string;
  /** As base64, or what stands for it. */
  readonly given: string;
}

interface Call {
  readonly model: Model;
  readonly fields: JsonObject;
  /** By the model's name of a field: the caller's. */
  readonly names: Readonly<Record<string, string>>;
  readonly pictures: readonly GivenPicture[];
  readonly inlineFiles: InlineFiles | undefined;
  /** Checks and stages all of them, once, so that nothing is begun where one cannot be used. In their order. */
  readonly stage: () => Promise<readonly StagedFile[]>;
  readonly ignored: readonly string[];
  release(): Promise<void>;
}

async function readCall(deps: Deps, exchange: KeyedExchange, shape: Shape): Promise<Call> {
  const receive = () => deps.assets.receive();
  const json = await readJsonBody(exchange, { receive, takesBare: true });
  try {
    const schema = shape === "single" ? EXTRA_SINGLE : EXTRA_BATCH;
    const body = lenient(schema, json.body);
    check(schema, body);
    const model = upscalerNamed(deps, exchange.principal, "upscaler_1", body.upscaler_1);
    refuseMore(model, body);
    const pictures = givenPictures(body, shape);
    const { inlineFiles } = json;
    const owner = exchange.principal.accountId;
    const { stage, release } = stagingOf(deps, pictures, { files: inlineFiles, owner });
    return {
      ...{ model, ...fieldsFor(model, body), pictures, inlineFiles, stage },
      release: async () => void (await Promise.all([json.discard?.(), release()])),
    };
  } catch (error) {
    await json.discard?.();
    throw error;
  }
}

function stagingOf(
  { assets }: Pick<Deps, "assets">,
  pictures: readonly GivenPicture[],
  from: Parameters<typeof stagePicture>[3],
): Pick<Call, "stage" | "release"> {
  const files: StagedFile[] = [];
  let staging: Promise<readonly StagedFile[]> | undefined;
  const stageAll = async () => {
    for (const { param, given } of pictures) files.push(await stagePicture(assets, param, given, from));
    return files;
  };
  return {
    stage: () => (staging ??= stageAll()),
    release: async () => void (await Promise.all(files.map((file) => file.release(false)))),
  };
}

function refuseMore(model: Model, body: JsonObject): void {
  const isNamed = ({ upscaler_2: second }: JsonObject) =>
    typeof second === "string" && second.toLowerCase() !== "none";
  const asked = ["gfpgan_visibility", "codeformer_visibility"].find((name) => Number(body[name] ?? 0) > 0);
  const more = Number(body.extras_upscaler_2_visibility ?? 0) > 0 && isNamed(body) ? "upscaler_2" : asked;
  if (more !== undefined) throw invalid({ kind: "field_undoable", field: more, model: model.id });
}

function givenPictures(body: JsonObject, shape: Shape): GivenPicture[] {
  if (shape === "single") return [{ param: "image", given: textOf("image", body.image) }];
  const list = Array.isArray(body.imageList) ? body.imageList : [];
  if (list.length === 0) throw invalid({ kind: "required", field: "imageList" });
  return list.map((each, i) => {
    const param = `imageList[${i}].data`;
    return { param, given: textOf(param, isJsonObject(each) ? each.data : undefined) };
  });
}

function textOf(field: string, given: Json | undefined): string {
  if (given === undefined) throw invalid({ kind: "required", field });
  if (typeof given !== "string") throw mustBe(field, { form: "text" }, { json: given });
  return given;
}

function fieldsFor(model: Model, body: JsonObject): Pick<Call, "fields" | "ignored" | "names"> {
  const factor = factorField(model);
  const { upscaling_resize: asked } = body;
  const isTaken = factor !== undefined && asked !== undefined;
  const ignored = ["upscaling_resize", "upscaling_resize_w", "upscaling_resize_h"].filter(
    (name) => body[name] !== undefined && !(name === "upscaling_resize" && isTaken),
  );
  return {
    // The values by which a model does so count before ours.
    fields: {
      prompt: ENLARGING_PROMPT,
      ...model.followUps?.upscale,
      model: model.id,
      ...(isTaken && { [factor]: asked }),
    },
    names: { prompt: "upscaler_1", ...(factor !== undefined && { [factor]: "upscaling_resize" }) },
    ignored,
  };
}

async function accept(
  deps: Deps,
  exchange: KeyedExchange,
  shape: Shape,
  { model, fields, names, pictures, inlineFiles, stage, ignored }: Call,
) {
  const { keyId } = exchange.principal;
  const sent = sentBy(exchange);
  const calls: SyncCall[] = [];
  try {
    for (const [i, { param, given }] of pictures.entries()) {
      const name = "upload: image";
      // A picture is decoded for nobody who cannot pay for one.
      const uploads = async () => {
        const file = (await stage())[i];
        return new Map(file === undefined ? [] : [[name, file]]);
      };
      const call = await inOtherWords(names, () =>
        deps.generateSync({
          ...sent,
          // One key stands for the whole request; its parts are told apart.
          idempotencyKey:
            sent.idempotencyKey && (i === 0 ? sent.idempotencyKey : `${sent.idempotencyKey}/${i}`),
          request: { fields, isText: false, images: [name], imagesName: param },
          ...{ identity: { ...fields, place: i, picture: given }, inlineFiles, uploads },
          endpoint: `POST ${BASE}/${PATHS[shape]}`,
        }),
      );
      calls.push(call);
      deps.calls.begin(keyId, { taskId: call.taskId, job: "extras", steps: 1, times: 1 });
    }
  } catch (error) {
    await undo(deps, exchange, calls);
    throw error;
  }
  return { calls, model, ignored };
}

/** Ends what was begun of a request that is refused. The same request, sent again, has what cannot be ended any more. */
async function undo(deps: Deps, { principal }: KeyedExchange, calls: readonly SyncCall[]): Promise<void> {
  for (const { leave, taskId } of calls) {
    leave();
    await cancelTask(deps, principal, taskId).catch(unlessOver);
  }
}

async function finish(
  deps: Deps,
  exchange: KeyedExchange,
  shape: Shape,
  { calls, model, ignored }: Awaited<ReturnType<typeof accept>>,
): Promise<Reply> {
  const { waitMs, headers } = waitOf(deps, exchange);
  const ended = await Promise.allSettled(
    calls.map((call) => {
      const standing = standingFor(exchange, call);
      return endOf(deps, exchange.principal.keyId, call, () =>
        finishInTime(deps, exchange, call, { waitMs, standing }),
      );
    }),
  );
  const tasks = ended.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    for (const [i, { status }] of ended.entries()) if (status === "fulfilled") calls[i]?.leave();
    throw failed.reason;
  }
  const leave = () => calls.forEach((call) => void call.leave());
  const answering = { shape, model, ignored, headers, leave };
  return answerInTime(deps, exchange, { leave, taskId: calls[0]?.taskId }, () =>
    reply(deps, tasks, answering),
  );
}

async function reply(
  deps: Deps,
  tasks: readonly TaskSummary[],
  {
    shape,
    model,
    ignored,
    headers,
    leave,
  }: {
    readonly shape: Shape;
    readonly model: Model;
    readonly ignored: readonly string[];
    readonly headers: Readonly<Record<string, string>>;
    readonly leave: () => void;
  },
): Promise<Reply> {
  const opened = (await Promise.all(tasks.map((task) => openImages(deps, task)))).map(
    ([first]) => first?.content,
  );
  const contents = opened.filter((each) => each !== undefined);
  if (contents.length < tasks.length) throw new AppError("internal_error", { kind: "defect" });
  const note = ignored.length === 0 ? "" : ` Ignored: ${ignored.join(", ")}.`;
  const info = JSON.stringify(`<p>Made by ${model.id}.${note}</p>`);
  const charged = tasks.flatMap((task) => task.charged ?? []);
  const [first] = tasks;
  return {
    status: 200,
    headers: {
      ...{ "Content-Type": "application/json", "X-Request-Cost": formatAmount(sumMicros(charged)) },
      ...(first && { "X-Task-Id": first.id }),
      ...headers,
    },
    ...(await bodyInPieces(answerPieces(shape, info, contents), contents, leave)),
    log: { ...(first && { task: first.id }), model: model.id },
  };
}

async function* answerPieces(shape: Shape, info: string, contents: readonly Blob[]) {
  yield `{"html_info":${info},${shape === "single" ? '"image":' : '"images":['}`;
  for (const [i, content] of contents.entries()) {
    yield i === 0 ? '"' : ',"';
    yield* base64Pieces(content);
    yield '"';
  }
  yield shape === "single" ? "}" : "]}";
}
