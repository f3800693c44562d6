import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { ratioOfSize } from "../../../domain/media/video-size.ts";
import type { Model } from "../../../domain/model/model.ts";
import { formatAmount, ZERO } from "../../../domain/money/money.ts";
import type { Clock, Log } from "../../../domain/ports/runtime.ts";
import type { UploadStore } from "../../../domain/ports/upload-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { readOrRefused } from "../../../service/create-from.ts";
import type { GenerateSync, SyncCall } from "../../../service/generate-sync.ts";
import type { ModelDeps } from "../../../service/read-model.ts";
import { type AnswerDeps, openImages } from "../../compat/answer.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { bodyInPieces } from "../../pieces.ts";
import { STATUS, toAppError } from "../../problem.ts";
import type { JsonBody } from "../../read-json.ts";
import { json, type Reply } from "../../reply.ts";
import { eventReply } from "../../sse.ts";
import type { Standing } from "../../standing.ts";
import { whileStaying } from "../../stays.ts";
import {
  acceptStaying,
  answerInTime,
  finishInTime,
  orLeave,
  standingFor,
  type WaitingDeps,
  waitOf,
} from "../../waiting.ts";
import { inOtherWords, sentBy } from "../create.ts";
import type { MadePicture, PictureAnswers, PictureEvents } from "./candidates.ts";
import { tellError } from "./manners.ts";
import type { MediaContext } from "./media.ts";
import { askedFor, type NamedModel } from "./model-names.ts";
import type { PictureRequest, PredictDeps } from "./pictures.ts";
import { readGivenBody } from "./read-body.ts";

export interface CallDeps extends ModelDeps, AnswerDeps, WaitingDeps {
  readonly uploads: Pick<UploadStore, "byId">;
  readonly generateSync: GenerateSync;
  readonly clock: Clock;
  readonly log: Log;
}

/** A method of a model that answers with pictures. */
export interface PictureMethod {
  /** `generateContent` or `predict`; the scope of idempotency keys. */
  readonly verb: string;
  /** What it calls the proportions of a picture. */
  readonly ratioName: string;
  readonly answers: PictureAnswers;
  readonly read: (
    deps: PredictDeps,
    context: MediaContext,
    given: { readonly model: Model; readonly body: JsonObject },
  ) => Promise<PictureRequest>;
}

/** How the answer is sent: as one body, as an event, or as the only entry of a list. */
export type AnswerForm = "whole" | "event" | "list";

/** A call whose task is accepted, and what is needed to answer it. */
interface Accepted {
  readonly call: SyncCall;
  readonly ratio?: string | undefined;
  readonly unmet?: string | undefined;
}

/** Makes pictures while the caller waits. If the caller is lost, an equal request joins its task. */
export async function answerWithPictures(
  deps: CallDeps,
  exchange: KeyedExchange,
  how: { readonly method: PictureMethod; readonly form: AnswerForm },
): Promise<Reply> {
  const named = askedFor(deps, exchange);
  const given = await readGivenBody(deps, exchange);
  return makeWaiting(deps, exchange, { ...how, named, given });
}

/** The same for a body that is read. */
export async function makeWaiting(
  deps: CallDeps,
  exchange: KeyedExchange,
  {
    named: { model, name },
    given: { body, inlineFiles, discard },
    method,
    form,
  }: {
    readonly named: NamedModel;
    readonly given: JsonBody;
    readonly method: PictureMethod;
    readonly form: AnswerForm;
  },
): Promise<Reply> {
  let mask: PictureRequest["mask"];
  const release = async () => void (await Promise.all([discard?.(), mask?.release()]));
  const accept = async (): Promise<Accepted> => {
    const { principal, origin } = exchange;
    const context = { principal, origin, inlineFiles };
    const { found, refused } = await readOrRefused(() => method.read(deps, context, { model, body }));
    mask = found?.mask;
    const call = await inOtherWords(found?.names ?? {}, () =>
      deps.generateSync({
        ...{ ...sentBy(exchange), request: found?.request ?? { model, refused }, inlineFiles },
        ...{ hasPaintedMasks: true, uploads: found?.mask?.uploads },
        ...{ endpoint: `POST /gemini ${method.verb}`, identity: { ...body, model: name } },
      }),
    );
    return { call, ratio: found?.ratio, unmet: found?.unmet };
  };
  try {
    const kind = form === "event" ? "streams" : "waits";
    const { leave, accepted } = await acceptStaying(exchange, kind, { release }, accept);
    return await whileStaying(leave, () => finish(deps, exchange, { accepted, method, form }));
  } catch (error) {
    return await refusal(error, method, model, form);
  }
}

interface Finishing {
  readonly accepted: Accepted;
  readonly method: PictureMethod;
  readonly form: AnswerForm;
}

async function finish(deps: CallDeps, exchange: KeyedExchange, finishing: Finishing): Promise<Reply> {
  const { call } = finishing.accepted;
  const standing = standingFor(exchange, call);
  const { waitMs, headers } = waitOf(deps, exchange);
  headers["X-Task-Id"] = call.taskId;
  if (call.replayed) headers["X-Idempotent-Replay"] = "true";
  if (call.held !== undefined) headers["X-Request-Cost"] = formatAmount(call.held);
  // A stream starts to wait when it is read. With the caller gone, nothing would mark the task as left.
  if (finishing.form === "event" && !exchange.request.signal.aborted)
    return streamed(deps, exchange, finishing, { waitMs, headers, standing });
  const task = await finishInTime(deps, exchange, call, { waitMs, standing });
  return answerInTime(deps, exchange, call, () => made(deps, task, finishing, headers));
}

/** The answer with the pictures of a completed task. @param headers more may be added */
async function made(
  deps: CallDeps,
  task: TaskSummary,
  { accepted: { call, ratio, unmet }, method, form }: Finishing,
  headers: Record<string, string>,
): Promise<Reply> {
  const pictures = await openImages(deps, task);
  if (task.charged !== undefined) headers["X-Request-Cost"] = formatAmount(task.charged);
  const adjusted = isOther(ratio, pictures) ? method.ratioName : unmet;
  if (adjusted !== undefined) headers["X-Svc-Adjusted"] = adjusted;
  const contents = pictures.map(({ content }) => content);
  const pieces = inForm(method.answers.made(task, pictures), form);
  const { body, over } = await bodyInPieces(pieces, contents, call.leave);
  const log = { task: task.id, model: task.model };
  return { status: 200, headers: { "Content-Type": "application/json", ...headers }, body, over, log };
}

/** Whether pictures have other proportions than were asked for. */
function isOther(ratio: string | undefined, pictures: readonly MadePicture[]): boolean {
  return ratio !== undefined && pictures.some(({ asset }) => ratioOfSize(asset, [ratio]) === undefined);
}

async function* inForm(pieces: AsyncGenerator<string>, form: AnswerForm): AsyncGenerator<string> {
  if (form === "list") yield "[";
  yield* pieces;
  if (form === "list") yield "]";
}

/** The answer as events. An error after the answer began is an event, too. */
function streamed(
  deps: CallDeps,
  exchange: KeyedExchange,
  { accepted: { call }, method: { answers } }: Finishing,
  until: { readonly waitMs: number; readonly headers: Record<string, string>; readonly standing: Standing },
): Reply {
  const { clock, stopping, log } = deps;
  const { requestId, request } = exchange;
  const { begun, made, failed: failure } = answers.events ?? wholeEvent(answers);
  const failed = (err: unknown) =>
    log.error({ request_id: requestId, err: err as Error }, "a stream of images failed");
  const reply = eventReply(
    {
      ...{ clock, signal: request.signal, standing: until.standing, form: "data", onError: failed },
      write: async (events, gone) => {
        try {
          for (const event of begun(call.taskId, call.model)) await events.event(event);
          const task: TaskSummary = await call.finish({ waitMs: until.waitMs, stopping, gone });
          await orLeave(call, async () => {
            const pictures = await openImages(deps, task);
            for (const event of made(task, pictures)) await events.event(event);
          });
          if (gone.aborted) call.leave();
        } catch (thrown) {
          const error = toAppError(thrown, false);
          if (error.code === "internal_error" && error.cause !== undefined) failed(error.cause);
          for (const event of await failure(error, call.model, STATUS[error.code])) await events.event(event);
        }
      },
    },
    { task: call.taskId, model: call.model },
  );
  return { ...reply, headers: { ...reply.headers, ...until.headers } };
}

/** A stream of one event, which has the whole answer. */
function wholeEvent(answers: PictureAnswers): PictureEvents {
  return {
    begun: () => [],
    made: (task, pictures) => [{ data: answers.made(task, pictures) }],
    async failed(error, model, status) {
      const told = (await answers.refused(error, model))?.body ?? tellError(error, status);
      return [{ data: JSON.stringify(told) }];
    },
  };
}

/** What is no error in that API, such as content that is refused. @throws any other error as it came */
async function refusal(
  error: unknown,
  { answers }: PictureMethod,
  model: Model,
  form: AnswerForm,
): Promise<Reply> {
  const refused = error instanceof AppError ? await answers.refused(error, model.id) : undefined;
  if (!(error instanceof AppError) || refused === undefined) throw error;
  const { body: told, cost = formatAmount(ZERO) } = refused;
  const { taskId } = error.details;
  const headers = {
    "X-Request-Cost": cost,
    ...(taskId !== undefined && { "X-Task-Id": taskId }),
  };
  if (form !== "event") return json(form === "list" ? [told] : told, headers, { model: model.id });
  const body = `data: ${JSON.stringify(told)}\n\n`;
  return { status: 200, headers: { "Content-Type": "text/event-stream", ...headers }, body };
}
