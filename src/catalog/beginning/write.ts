import type { Json } from "../../domain/json.ts";
import type { InputRole, TaskKind } from "../../domain/task/request.ts";
import { INPUT_ROLES } from "../../domain/task/request.ts";
import type { Assignment, Option, Question } from "./find.ts";
import { type Nodes, nameOf, shown } from "./graph.ts";

/** A question, and what was chosen for it. */
export interface Answered extends Question {
  readonly chosen: Option;
  /** Nobody was asked. */
  readonly isGuess: boolean;
}

export interface Begun {
  readonly id: string;
  readonly kind: TaskKind;
  readonly provider: string;
  /** The name of the file that the workflow came from. */
  readonly source: string;
  readonly nodes: Nodes;
  readonly answers: readonly Answered[];
  readonly fps: number | undefined;
}

/** Our names for media, by role: of one file, and of several. */
const MEDIA: Readonly<Record<InputRole, readonly [one: string, several: string, about: string]>> = {
  image: ["image_url", "image_urls", "The image to work on."],
  mask: ["mask_url", "mask_urls", "What may change: where it is transparent."],
  first_frame: ["image_url", "image_urls", "The image the video begins with."],
  last_frame: ["last_frame_url", "last_frame_urls", "The image the video ends with."],
  reference: ["reference_image_url", "reference_image_urls", "What the result should be like."],
  video: ["video_url", "video_urls", "The video to work on."],
  motion: ["motion_video_url", "motion_video_urls", "The video to move like."],
  audio: ["audio_url", "audio_urls", "The sound to go by."],
};
const MEDIA_KINDS: Partial<Record<InputRole, string>> = { video: "video", motion: "video", audio: "audio" };

/** The manifest of a model that runs a workflow, with comments for its author. */
export function writeManifest(begun: Begun): string {
  const { id, kind, nodes, source } = begun;
  const slots = slotsOf(begun);
  const roles = INPUT_ROLES.filter((role) => slots.has(role));
  const title = id.replace(/[-_.]+/g, " ").trim();
  return `${[
    `# Begun with ${shown(source, 80)}. Put it into the folder models/ of the data folder. Look at what is marked with TODO.`,
    `id: ${JSON.stringify(id)}`,
    `kind: ${kind}`,
    `name: ${JSON.stringify(title === "" ? id : title)}`,
    `description: ${JSON.stringify(`What the workflow ${shown(source, 80)} makes.`)} # TODO for your callers`,
    `modes: [{ id: ${modeOf(kind, roles)}, requires: [${roles.join(", ")}] }]`,
    ...schemaLines(begun, slots, roles),
    ...(roles.length === 0 ? [] : ["media:", ...roles.map((role) => mediaLine(role, slots.get(role) ?? []))]),
    "price:",
    "  lines:",
    `    - { sku: ${JSON.stringify(id)}, unit: output, amount: "0.001000" } # TODO what one costs your callers, in USD`,
    `deadline_seconds: ${kind === "video" ? 3600 : 900}`,
    "routes:",
    `  - provider: ${begun.provider}`,
    `    upstream_model: ${JSON.stringify(id)}`,
    ...durationLines(begun, slots),
    "    workflow:",
    "      # Where the fields of a request go. What has no slot stays as the workflow has it; steps, say, may have one too.",
    "      slots:",
    ...[...slots].map(([field, places]) => slotLine(begun, field, places)),
    ...outputLines(begun),
    "      nodes:",
    ...Object.entries(nodes).map(([node, { class_type, inputs }]) => {
      const text = JSON.stringify({ class_type, inputs });
      return `        ${JSON.stringify(node)}: ${text}${titleOf(nodes, node)}`;
    }),
  ].join("\n")}\n`;
}

function slotsOf({ answers }: Begun): ReadonlyMap<string, readonly Assignment[]> {
  return Map.groupBy(
    answers.flatMap(({ chosen }) => chosen.puts),
    ({ field }) => field,
  );
}

function modeOf(kind: TaskKind, roles: readonly InputRole[]): string {
  const has = (role: InputRole) => roles.includes(role);
  if (roles.length === 0) return `text-to-${kind}`;
  if (kind === "image" && has("mask")) return "image-to-image-with-mask";
  if (has("first_frame") && has("last_frame")) return "first-last-frame-to-video";
  const from = has("first_frame") ? "image" : (roles[0] ?? "text").replaceAll("_", "-");
  return `${from}-to-${kind}`;
}

type Slots = ReadonlyMap<string, readonly Assignment[]>;

function schemaLines(begun: Begun, slots: Slots, roles: readonly InputRole[]): string[] {
  const names = roles.map((role) => mediaName(role, slots.get(role) ?? []));
  const required = [...(slots.has("prompt") ? ["prompt"] : []), ...names];
  const property = (name: string, text: string) => (slots.has(name) ? [`    ${name}: { ${text} }`] : []);
  return [
    "schema:",
    `  required: [${required.join(", ")}]`,
    "  properties:",
    ...property(
      "prompt",
      `type: string, minLength: 1, maxLength: 4000, description: What to ${begun.kind === "video" ? "show" : "draw"}.`,
    ),
    ...property(
      "negative_prompt",
      `type: string, maxLength: 4000, description: What not to ${begun.kind === "video" ? "show" : "draw"}.`,
    ),
    ...roles.map((role, i) => mediaProperty(role, names[i] ?? "", slots.get(role) ?? [])),
    ...property("size", sizeProperty(slots.get("size") ?? [])),
    ...property("duration", durationProperty(begun, slots)),
    ...property("n", "type: integer, minimum: 1, maximum: 4, default: 1, description: How many to make."),
    // Nothing goes into the graph for it: the server shows what it samples.
    ...(begun.kind === "image"
      ? [
          "    partial_images: { type: integer, minimum: 0, maximum: 3, description: So many early versions are shown while it is made. }",
        ]
      : []),
    ...property(
      "seed",
      "type: integer, minimum: 0, maximum: 4294967295, description: Equal requests with equal seeds give about equal results.",
    ),
  ];
}

function mediaName(role: InputRole, places: readonly Assignment[]): string {
  const [one, several] = MEDIA[role];
  return places.length > 1 ? several : one;
}

function mediaProperty(role: InputRole, name: string, { length }: readonly Assignment[]): string {
  const [, , about] = MEDIA[role];
  const list = length > 1 ? `type: array, minItems: ${length}, maxItems: ${length}, ` : "";
  return `    ${name}: { ${list}description: ${JSON.stringify(about)} }`;
}

function mediaLine(role: InputRole, places: readonly Assignment[]): string {
  return `  ${mediaName(role, places)}: { role: ${role}, media: ${MEDIA_KINDS[role] ?? "image"} }`;
}

/** The size that the workflow has, and the same on its side. */
function sizeProperty(places: readonly Assignment[]): string {
  const [width, height] = ["width", "height"].map((part) => places.find((each) => each.part === part)?.value);
  const sizes = [...new Set([`${width}x${height}`, `${height}x${width}`])];
  return `type: string, enum: [${sizes.map((size) => `"${size}"`).join(", ")}], default: "${sizes[0]}", description: Width and height in pixels.`;
}

interface Length {
  readonly seconds: number;
  readonly frames: Json;
}

/** How long the workflow's own video is. */
function lengthOf({ fps = 16 }: Begun, slots: Slots): Length | undefined {
  const frames = slots.get("duration")?.[0]?.value;
  return typeof frames === "number"
    ? { frames, seconds: Math.max(1, Math.round((frames - 1) / fps)) }
    : undefined;
}

function durationProperty(begun: Begun, slots: Slots): string {
  const { seconds } = lengthOf(begun, slots) ?? {};
  return `type: integer, enum: [${seconds}], default: ${seconds}, description: Length in seconds.`;
}

function durationLines(begun: Begun, slots: Slots): string[] {
  const length = lengthOf(begun, slots);
  if (length === undefined) return [];
  return [
    "    wording:",
    "      parameters:",
    "        # TODO a line in the schema and one here for each further length: seconds and their frames",
    `        duration: { values: { ${length.seconds}: ${length.frames} } }`,
  ];
}

function slotLine({ answers, nodes }: Begun, field: string, places: readonly Assignment[]): string {
  const text = (each: readonly Assignment[]) => {
    const all = each.map(
      ({ place }) => `{ node: ${JSON.stringify(place.node)}, input: ${JSON.stringify(place.input)} }`,
    );
    return all.length === 1 ? all[0] : `[${all.join(", ")}]`;
  };
  const parts = [...Map.groupBy(places, ({ part }) => part)];
  const isWhole = parts.every(([part]) => part === undefined);
  const slot = isWhole
    ? text(places)
    : `{ ${parts.map(([part, each]) => `${part}: ${text(each)}`).join(", ")} }`;
  const [first] = places;
  const about =
    first === undefined
      ? ""
      : `node ${nameOf(nodes, first.place.node)}: ${shown(JSON.stringify(first.value), 40)}`;
  return `        ${field}: ${slot} # ${guessOf(answers, (chosen) => chosen.puts.some((each) => each.field === field))}${about}`;
}

function outputLines({ answers }: Begun): string[] {
  const found = answers.find(({ chosen }) => chosen.output !== undefined);
  if (found?.chosen.output === undefined) return [];
  const guess = guessOf(answers, (chosen) => chosen.output !== undefined);
  return [
    `      outputs: [${JSON.stringify(found.chosen.output)}]${guess === "" ? "" : ` # ${guess.trim()}`}`,
  ];
}

/** What else it might have been, where nobody was asked. */
function guessOf(answers: readonly Answered[], isIt: (chosen: Option) => boolean): string {
  const guessed = answers.find(
    ({ chosen, isGuess, options }) => isGuess && options.length > 1 && isIt(chosen),
  );
  if (guessed === undefined) return "";
  const others = guessed.options.filter((option) => option !== guessed.chosen).map(({ label }) => label);
  return `TODO a guess; it may also be ${shown(others.join(", or "), 200)}. `;
}

function titleOf(nodes: Nodes, node: string): string {
  const { _meta, class_type } = nodes[node] ?? {};
  const title = typeof _meta?.title === "string" ? shown(_meta.title, 60) : "";
  return title === "" || title === class_type ? "" : ` # ${title}`;
}
