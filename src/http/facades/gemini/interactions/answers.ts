import type { AppError } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import type { TaskStore } from "../../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../../domain/task/task.ts";
import { joined } from "../../../pieces.ts";
import type { StreamedEvent } from "../../../sse.ts";
import type { MadePicture, PictureAnswers, PictureEvents } from "../candidates.ts";
import { costOf } from "../operation.ts";
import {
  addressed,
  contentPieces,
  errorsOf,
  inline,
  interactionPieces,
  type MadeFile,
  OBJECT,
  presentHead,
} from "./present.ts";
import type { AskedAnswer } from "./settings.ts";

export interface AnswersDeps {
  readonly tasks: Pick<TaskStore, "summary">;
}

type How = Pick<AskedAnswer, "isStored" | "delivery"> & { readonly origin: string };

/**
 * The answers to a caller that waits. A task that failed is an interaction, too, and no error. So is one that goes on where the wait
 * has ended: for an error, clients would send the request again, and pay twice.
 */
export function createAnswers({ tasks }: AnswersDeps, how: How): PictureAnswers {
  /** The task that failed or was cancelled, and so ended the wait. */
  const endedBy = async ({ facts }: AppError): Promise<TaskSummary | undefined> =>
    facts.kind === "task_failed" || facts.kind === "task_cancelled" ? tasks.summary(facts.task) : undefined;
  return {
    made: (task, pictures) => interactionPieces(task, filesOf(how, task, pictures), how.isStored),
    async refused(error) {
      const { facts } = error;
      const task = await (facts.kind === "task_goes_on" ? tasks.summary(facts.task) : endedBy(error));
      return task && { body: { ...presentHead(task, how.isStored), steps: [] }, cost: costOf(task) };
    },
    events: createEvents(how, endedBy),
  };
}

const filesOf = ({ delivery, origin }: How, { results }: TaskSummary, pictures: readonly MadePicture[]) =>
  delivery === "uri" ? results.map((result) => addressed(origin, result)) : pictures.map(inline);

function createEvents(
  how: How,
  endedBy: (error: AppError) => Promise<TaskSummary | undefined>,
): PictureEvents {
  // Clients read a stream with an id alone.
  const headOf = (task: TaskSummary) => ({ id: "", ...presentHead(task, how.isStored) });
  return {
    begun(task, model) {
      const id = how.isStored ? task : "";
      const status = "in_progress";
      return [
        event("interaction.created", { interaction: { id, object: OBJECT, model, status } }),
        event("interaction.status_update", { interaction_id: id, status }),
      ];
    },
    made: (task, pictures) => [
      ...stepOf(filesOf(how, task, pictures)),
      event("interaction.completed", { interaction: headOf(task) }),
      OVER,
    ],
    async failed(error) {
      const task = await endedBy(error);
      if (task === undefined)
        return [event("error", { error: { code: error.code.toUpperCase(), message: error.message } }), OVER];
      return [
        ...errorsOf(task).map((each) => event("error", { error: each })),
        event("interaction.completed", { interaction: headOf(task) }),
        OVER,
      ];
    },
  };
}

/** What clients end a stream by. */
const OVER: StreamedEvent = { name: "done", data: "[DONE]" };

const event = (name: string, fields: JsonObject): StreamedEvent => ({
  name,
  data: JSON.stringify({ ...fields, event_type: name }),
});

/** The step that made files: each is one event. */
function stepOf(files: readonly MadeFile[]): StreamedEvent[] {
  const index = 0;
  const deltas = files.map((file): StreamedEvent => {
    const before = `{"index":${index},"delta":`;
    return { name: DELTA, data: joined(before, contentPieces(file), `,"event_type":"${DELTA}"}`) };
  });
  return [
    event("step.start", { index, step: { type: "model_output" } }),
    ...deltas,
    event("step.stop", { index }),
  ];
}

const DELTA = "step.delta";
