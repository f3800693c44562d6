import type { AtHand } from "../../../domain/at-hand.ts";
import type { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { ResultIssue } from "../../../domain/task/result-issue.ts";
import type { TaskSummary, Usage } from "../../../domain/task/task.ts";
import { base64Pieces } from "../../pieces.ts";
import type { StreamedEvent } from "../../sse.ts";

/** A picture that was made, and its content. */
export interface MadePicture {
  readonly asset: Asset;
  readonly content: Blob;
}

/** The answers of calls with pictures: each piece by piece, so that no picture is held in memory. */
export interface PictureAnswers {
  /** What a completed task has made. */
  made(task: TaskSummary, pictures: readonly MadePicture[]): AsyncGenerator<string>;
  /** What is no error in that API, such as content that was refused: of a task that was made, or before there was one. */
  refused(error: AppError, model: string): AtHand<Refused | undefined>;
  /** The answer as a stream; one event with all of it unless given. */
  readonly events?: PictureEvents | undefined;
}

export interface Refused {
  readonly body: JsonObject;
  /** What is charged or held; nothing unless given. */
  readonly cost?: string | undefined;
}

/** The events of a stream. */
export interface PictureEvents {
  begun(id: TaskId, model: string): readonly StreamedEvent[];
  made(task: TaskSummary, pictures: readonly MadePicture[]): Iterable<StreamedEvent>;
  /** @param status of the error, where it is told without a stream */
  failed(error: AppError, model: string, status: number): AtHand<readonly StreamedEvent[]>;
}

/** Of `generateContent`: a candidate for each picture. */
export const CANDIDATES: PictureAnswers = {
  async *made({ id, model, usage, resultIssues = [] }, pictures) {
    let before = '{"candidates":[';
    for (const [index, { asset, content }] of pictures.entries()) {
      yield `${before}{"content":{"parts":[{"inlineData":{"mimeType":"${asset.type}","data":"`;
      yield* base64Pieces(content);
      yield `"}}],"role":"model"},"finishReason":"STOP","index":${index}}`;
      before = ",";
    }
    for (const [i, issue] of resultIssues.entries()) {
      yield before + JSON.stringify(withheld(issue, pictures.length + i));
      before = ",";
    }
    const facts = { usageMetadata: usageOf(usage), modelVersion: model, responseId: id };
    yield `${before === "," ? "" : before}],${JSON.stringify(facts).slice(1)}`;
  },
  refused(error, model) {
    if (!isRefusal(error)) return undefined;
    const { taskId } = error.details;
    const facts = { usageMetadata: usageOf(undefined), modelVersion: model };
    // A prompt that never became a task is blocked; if it became one, the picture is withheld.
    if (taskId === undefined)
      return { body: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...facts } };
    const candidate = { finishReason: "IMAGE_SAFETY", finishMessage: reasonOf(error), index: 0 };
    return { body: { candidates: [candidate], ...facts, responseId: taskId } };
  },
};

function withheld({ code, message }: ResultIssue, index: number): JsonObject {
  const finishReason = code === "CONTENT_MODERATED" ? "IMAGE_SAFETY" : "IMAGE_OTHER";
  return { finishReason, finishMessage: message, index };
}

/** Zero where the upstream reports none. */
function usageOf(usage: Usage | undefined): JsonObject {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
  };
}

/** Of `predict`: a prediction for each picture. */
export const PREDICTIONS: PictureAnswers = {
  async *made({ resultIssues = [] }, pictures) {
    let before = '{"predictions":[';
    for (const { asset, content } of pictures) {
      yield `${before}{"mimeType":"${asset.type}","bytesBase64Encoded":"`;
      yield* base64Pieces(content);
      yield '"}';
      before = ",";
    }
    for (const { message } of resultIssues) {
      yield before + JSON.stringify({ raiFilteredReason: message });
      before = ",";
    }
    yield `${before === "," ? "" : before}]}`;
  },
  refused: (error) =>
    isRefusal(error) ? { body: { predictions: [{ raiFilteredReason: reasonOf(error) }] } } : undefined,
};

const isRefusal = ({ code }: AppError) => code === "content_policy_violation";

/** Why content was refused: in the words of the task's failure, without its id. */
function reasonOf({ facts, message }: AppError): string {
  return facts.kind === "task_failed" ? facts.error.message : message;
}
