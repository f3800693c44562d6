import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { resultUrls } from "../../client/answer.ts";
import { objectsOf, textOf } from "../../client/lenient.ts";
import { type StoryView, stagesOf } from "../../client/story.ts";
import { callbackLine, clockTime, ownerName } from "../../format/story-words.ts";
import { formatDuration, formatSize, formatTime } from "../../format/units.ts";
import { wrapCells } from "../kit/cells.ts";
import { leftOf, type Moment, statusWord } from "./columns.ts";
import type { Detail } from "./state.ts";
import type { WatchedTask } from "./task.ts";

/** A line of the detail pane. */
export interface Line {
  readonly text: string;
  readonly look?: "title" | "good" | "bad" | "dim" | "picture";
}

const NAME_WIDTH = 10;
/** Of a text that somebody wrote. */
const MAX_PROMPT_LINES = 12;
const MAX_LINES = 4;

/** Everything about a task, in lines of a width. Times since are told as of `moment`. */
export function detailLines(
  task: WatchedTask,
  detail: Detail | undefined,
  moment: Moment,
  width: number,
): Line[] {
  const field = fieldsOf(width);
  const own = detail?.id === task.id ? detail : undefined;
  return [
    { text: task.id, look: "title" },
    ...field("status", standingOf(task, moment), lookOf(task)),
    ...field("model", [task.model, task.kind].filter(Boolean).join(", ")),
    ...field("account", task.account),
    ...field("created", task.createdAt === 0 ? "" : formatTime(task.createdAt * 1000)),
    ...field("error", task.status === "failed" ? task.note : "", "bad"),
    ...field("missing", task.status === "completed" ? task.note : "", "bad"),
    ...(own?.story === undefined ? [] : storyLines(task, own.story, field)),
    ...(own?.story === undefined ? field("cost", task.cost ?? "") : []),
    ...resultUrls(task.view).flatMap((url) => field("result", url)),
    ...(own?.problem === undefined ? [] : field("", own.problem, "bad")),
    ...(own?.picture ?? []).map((text): Line => ({ text, look: "picture" })),
  ];
}

type FieldLines = (name: string, value: string, look?: Line["look"], maxLines?: number) => Line[];

/** A name, and its value in as many lines as it takes. */
function fieldsOf(width: number): FieldLines {
  const room = Math.max(8, width - NAME_WIDTH);
  return (name, value, look, maxLines = MAX_LINES) =>
    value === ""
      ? []
      : wrapCells(value, room, maxLines).map((text, i) => ({
          text: (i === 0 ? name : "").padEnd(NAME_WIDTH) + text,
          ...(look === undefined ? {} : { look }),
        }));
}

function standingOf(task: WatchedTask, moment: Moment): string {
  const left = leftOf(task, moment);
  const progress = task.hasEnded ? "" : `, ${task.progress} %`;
  return `${statusWord(task)}${progress}${left === "" ? "" : `, ${left}`}`;
}

function lookOf({ status }: WatchedTask): Line["look"] {
  if (status === "failed") return "bad";
  return status === "completed" ? "good" : undefined;
}

function storyLines(task: WatchedTask, story: StoryView, field: FieldLines): Line[] {
  const { request, attempts, callbacks } = story;
  return [
    ...field("", textOf(story.advice)),
    ...field("cost", moneyOf(task, story)),
    ...field("key", ownerName(story.key)),
    ...field("request", textOf(story.request_id)),
    ...field("prompt", textOf(request.prompt), undefined, MAX_PROMPT_LINES),
    ...field("given", parametersOf(request)),
    ...objectsOf(request.inputs).flatMap((input) => field("input", inputOf(input))),
    ...stagesOf(story).flatMap(({ stage, at, durationMs }, i) => {
      const took = durationMs === undefined ? "" : ` ${formatDuration(durationMs)}`;
      return field(i === 0 ? "timeline" : " ", `${clockTime(at)} ${stage}${took}`);
    }),
    ...attempts.flatMap((attempt) => field("attempt", attemptOf(attempt))),
    ...callbacks.flatMap((callback) => field("callback", callbackLine(callback))),
  ];
}

/** What was charged against what was held. */
function moneyOf({ cost, hasEnded }: WatchedTask, { hold, charge }: StoryView): string {
  const { amount, currency } = isJsonObject(hold) ? hold : {};
  // What a task without a charge was held for was given back at its end.
  const isGivenBack = hasEnded && charge.length === 0;
  const held = textOf(amount) === "" || isGivenBack ? "" : `${textOf(amount)} ${textOf(currency)} held`;
  const lines = charge.map(({ sku, quantity, amount }) => `${textOf(sku)} × ${quantity} = ${textOf(amount)}`);
  return [cost ?? (hasEnded ? "nothing charged" : ""), held, ...lines].filter(Boolean).join("; ");
}

function parametersOf({ mode, n, parameters }: JsonObject): string {
  const given = isJsonObject(parameters) ? Object.entries(parameters) : [];
  const pairs = given.map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [textOf(mode), typeof n === "number" ? `n=${n}` : "", ...pairs].filter(Boolean).join(" ");
}

function inputOf({ field, media_type, size_bytes, width, height, url }: JsonObject): string {
  const size = typeof size_bytes === "number" ? formatSize(size_bytes) : "";
  const shape = typeof width === "number" && typeof height === "number" ? `${width}×${height}` : "";
  const about = [textOf(media_type), shape, size].filter(Boolean).join(", ");
  return `${textOf(field)}: ${about === "" ? textOf(url) : about}`;
}

function attemptOf(attempt: JsonObject): string {
  const {
    number,
    outcome,
    started_at: from,
    ended_at: to,
    error_code: code,
    message,
    route,
    detail,
  } = attempt;
  const took = Date.parse(textOf(to)) - Date.parse(textOf(from));
  const { provider, upstream_model: model } = isJsonObject(route) ? route : {};
  return [
    `${number} ${textOf(outcome)}${Number.isNaN(took) ? "" : ` after ${formatDuration(took)}`}`,
    [textOf(provider), textOf(model)].filter(Boolean).join(" "),
    [textOf(code), textOf(message)].filter(Boolean).join(": "),
    textOf(detail),
  ]
    .filter(Boolean)
    .join("; ");
}
