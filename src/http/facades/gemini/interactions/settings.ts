import { invalid, mustBe } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import type { Model } from "../../../../domain/model/model.ts";
import { asObject, listOf, type Member, memberOf, objectOf, textOf } from "../members.ts";
import { addLabels, addOwn, labelOf, type Wanted } from "../parameters.ts";

/** How an interaction is to be answered. */
export interface AskedAnswer {
  /** Whether it is answered before it is made. A stream tells both. */
  readonly isBackground: boolean;
  readonly isStream: boolean;
  /** Whether an answer with its end has an id. */
  readonly isStored: boolean;
  readonly delivery: Delivery | undefined;
}

const DELIVERIES = ["inline", "uri"] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** What is to be made, and where each part of it stands. */
export interface AskedFormat {
  readonly ratio: Member | undefined;
  /** That API has one word for pictures and another for videos; both are taken for each. */
  readonly size: Member | undefined;
  readonly duration: Member | undefined;
  readonly mimeType: Member | undefined;
  /** What the input of a video is for, as text. */
  readonly task: Member | undefined;
}

interface Place {
  readonly value: JsonObject;
  readonly path: string;
}

/** Settings of chats, which change nothing about a picture or a video. */
const OF_CHATS = new Set([
  ...["temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "presencePenalty"],
  ...["frequencyPenalty", "thinkingLevel", "thinkingSummaries", "toolChoice", "imageConfig", "videoConfig"],
]);
const OF_FORMATS = new Set([
  ...["type", "aspectRatio", "imageSize", "resolution", "duration", "mimeType", "delivery"],
]);
const OF_IMAGES = new Set(["aspectRatio", "imageSize"]);
const OF_VIDEOS = new Set(["task"]);
/** What a body may have beside what it asks for. */
const OF_BODIES = new Set([
  ...["model", "input", "systemInstruction", "generationConfig", "responseFormat", "responseModalities"],
  ...["responseMimeType", "background", "stream", "store", "previousInteractionId", "labels"],
  ...["safetySettings", "serviceTier"],
]);
const NONE: ReadonlySet<string> = new Set();

/** @throws AppError naming what no model here can be asked for */
export function readAskedAnswer({ kind }: Model, body: JsonObject): AskedAnswer {
  const format = formatOf(kind, body);
  const isBackground = flagOf(body, "background") === true || kind === "video";
  const isStored = flagOf(body, "store") !== false;
  // Without an id there would be nothing to poll.
  if (isBackground && !isStored) throw mustBe("store", { equal: true }, false);
  const isStream = flagOf(body, "stream") === true;
  if (isStream && kind === "video") throw mustBe("stream", { equal: false }, true);
  return { isBackground: isBackground && !isStream, isStored, isStream, delivery: deliveryIn(format) };
}

function deliveryIn({ value, path }: Place): Delivery | undefined {
  const delivery = textOf(value, "delivery", path);
  if (delivery === undefined) return undefined;
  const known = DELIVERIES.find((each) => each === delivery.value);
  if (known === undefined) throw mustBe(delivery.path, { oneOf: DELIVERIES }, delivery.value);
  return known;
}

/** Refuses what is asked of agents, and of models that write. @throws AppError */
export function refuseAgents(body: JsonObject): void {
  const agent = memberOf(body, "agent");
  if (agent !== undefined) throw mustBe(agent.path, { rule: "be absent: there are no agents" });
  const tools = memberOf(body, "tools");
  if (tools !== undefined && listOf(body, "tools").length > 0)
    throw mustBe(tools.path, { rule: "be empty: models here use no tools" });
}

/**
 * Reads what is to be made, and gives every other setting to the model's field of its name.
 * @throws AppError naming a setting that the model has no field for
 */
export function readFormat(model: Model, to: Wanted, body: JsonObject): AskedFormat {
  const format = formatOf(model.kind, body);
  requireModality(model, body);
  const config = objectOf(body, "generationConfig") ?? { value: {}, path: "generationConfig" };
  const image = placeIn(config, "imageConfig");
  const video = placeIn(config, "videoConfig");
  const first = (name: string) =>
    memberOf(format.value, name, format.path) ?? memberOf(image.value, name, image.path);
  addOwn(model, to, format.value, { at: format.path, known: OF_FORMATS, ignored: NONE });
  addOwn(model, to, config.value, { at: config.path, known: NONE, ignored: OF_CHATS });
  addOwn(model, to, image.value, { at: image.path, known: OF_IMAGES, ignored: NONE });
  addOwn(model, to, video.value, { at: video.path, known: OF_VIDEOS, ignored: NONE });
  const { tools, ...rest } = body;
  addOwn(model, to, rest, { at: "", known: OF_BODIES, ignored: NONE });
  addLabels(model, to, body);
  return {
    ratio: first("aspectRatio"),
    size: first("imageSize") ?? first("resolution"),
    duration: durationIn(format),
    mimeType: memberOf(format.value, "mimeType", format.path),
    task: textOf(video.value, "task", video.path),
  };
}

const placeIn = ({ value, path }: Place, name: string): Place =>
  objectOf(value, name, path) ?? { value: {}, path: `${path}.${name}` };

/** The format for what the model makes, of one or several. @throws AppError where there are others alone */
function formatOf(kind: Model["kind"], body: JsonObject): Place {
  const formats = listOf(body, "responseFormat").map(asObject);
  const [first] = formats;
  if (first === undefined) return { value: {}, path: "response_format" };
  const [own, second] = formats.filter(({ value, path }) => textOf(value, "type", path)?.value === kind);
  if (own === undefined)
    throw mustBe(`${first.path}.type`, { equal: kind }, { json: first.value.type ?? null });
  if (second !== undefined) throw invalid({ kind: "given_twice", field: second.path });
  return own;
}

function requireModality({ kind }: Model, body: JsonObject): void {
  const given = listOf(body, "responseModalities");
  const [first] = given;
  if (first === undefined || given.some((each) => labelOf(each).toLowerCase() === kind)) return;
  const field = first.path.replace(/\[0\]$/, "");
  throw mustBe(field, { rule: `have ${kind}` }, { json: given.map(({ value }) => value) });
}

/** A length in seconds: of `8s`, 8. */
function durationIn({ value, path }: Place): Member | undefined {
  const member = memberOf(value, "duration", path);
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(member === undefined ? "" : labelOf(member)) ?? [];
  return member !== undefined && seconds !== undefined ? { ...member, value: Number(seconds) } : member;
}

function flagOf(body: JsonObject, name: string): boolean | undefined {
  const member = memberOf(body, name);
  if (member === undefined) return undefined;
  if (typeof member.value !== "boolean")
    throw mustBe(member.path, { form: "boolean" }, { json: member.value });
  return member.value;
}
