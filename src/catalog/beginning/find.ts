import type { Json } from "../../domain/json.ts";
import { linkedNode } from "../../domain/model/workflow.ts";
import type { InputRole, TaskKind } from "../../domain/task/request.ts";
import { type Nodes, nameOf, shown, WorkflowError } from "./graph.ts";
import { ancestors, type Literal, literalAt, type Side, walkBack } from "./walk.ts";

/** A field of a request, and a place that it goes to. */
export interface Assignment extends Literal {
  readonly field: string;
  readonly part?: string | undefined;
}

/** What a field may be, of which the first is the guess. With one option there is nothing to ask. */
export interface Question {
  readonly about: string;
  readonly options: readonly Option[];
}

export interface Option {
  readonly label: string;
  readonly puts: readonly Assignment[];
  /** The node whose files are the result. */
  readonly output?: string | undefined;
}

export interface Findings {
  readonly kind: TaskKind;
  readonly questions: readonly Question[];
  /** Pictures a second, where the workflow says so. */
  readonly fps: number | undefined;
}

const TEXTS = ["text", "prompt", "clip_l", "t5xxl", "text_g", "text_l", "positive_prompt", "string"];

/** Finds what a request can say of a workflow, by what its nodes are called and how they are linked. @throws WorkflowError */
export function findSlots(nodes: Nodes): Findings {
  const savers = saversOf(nodes);
  const kind = savers.some(({ isVideo }) => isVideo) ? "video" : "image";
  const positive = textsOf(nodes, "positive");
  const negative = textsOf(nodes, "negative").filter((each) => !includes(positive, each));
  const sizes = sizesOf(nodes);
  return {
    kind,
    fps: numberNamed(nodes, ["fps", "frame_rate"]),
    questions: [
      ...promptQuestion(nodes, positive, negative),
      ...(negative.length > 0 ? [certain("the negative prompt", put("negative_prompt", negative))] : []),
      ...sizeQuestion(sizes),
      ...(kind === "image" ? batchQuestion(nodes, sizes) : lengthQuestion(nodes, sizes)),
      ...seedQuestion(nodes),
      ...inputQuestions(nodes, kind),
      ...outputQuestion(
        nodes,
        savers.filter(({ isVideo }) => isVideo === (kind === "video")).map(({ id }) => id),
      ),
    ],
  };
}

function certain(about: string, puts: readonly Assignment[]): Question {
  return { about, options: [{ label: about, puts }] };
}

function put(field: string, literals: readonly Literal[], part?: string): Assignment[] {
  return literals.map((literal) => ({ field, part, ...literal }));
}

function includes(all: readonly Literal[], { place }: Literal): boolean {
  return all.some((each) => each.place.node === place.node && each.place.input === place.input);
}

function unique(all: readonly Literal[]): Literal[] {
  return all.filter((each, i) => !includes(all.slice(0, i), each));
}

/** The texts that condition what is drawn, on one side. */
function textsOf(nodes: Nodes, side: Side): Literal[] {
  const starts = Object.entries(nodes).flatMap(([node, { inputs }]) => {
    const names = side === "positive" && inputs.positive === undefined ? ["conditioning"] : [side];
    return names.filter((name) => linkedNode(inputs[name]) !== undefined).map((input) => ({ node, input }));
  });
  const isOfGuider = (node: string) => /guider/i.test(nodes[node]?.class_type ?? "");
  const used = starts.filter(({ node, input }) => input !== "conditioning" || isOfGuider(node));
  return unique(used.flatMap((from) => walkBack(nodes, from, side, (id) => textsIn(nodes, id))));
}

function textsIn(nodes: Nodes, id: string): Literal[] {
  const literals = TEXTS.flatMap((input) => literalAt(nodes, id, input) ?? []);
  return literals.filter(({ value }) => typeof value === "string");
}

function promptQuestion(
  nodes: Nodes,
  positive: readonly Literal[],
  negative: readonly Literal[],
): Question[] {
  const anywhere = () =>
    Object.keys(nodes)
      .flatMap((id) => textsIn(nodes, id))
      .filter((each) => !includes(negative, each));
  const found = positive.length > 0 ? positive : unique(anywhere());
  const ids = [...new Set(found.map(({ place }) => place.node))];
  const options = ids.map((id): Option => {
    const own = found.filter(({ place }) => place.node === id);
    return {
      label: `node ${nameOf(nodes, id)}: "${shown(String(own[0]?.value), 60)}"`,
      puts: put("prompt", own),
    };
  });
  const all: Option = { label: "all of them", puts: put("prompt", found) };
  const isOne = ids.length === 1;
  return found.length === 0
    ? []
    : [{ about: "the prompt", options: isOne || positive.length === 0 ? options : [all, ...options] }];
}

interface Size {
  readonly width: Literal;
  readonly height: Literal;
  readonly node: string;
}

const NO_SIZE = /scale|resize|crop|pad|upscale|tile|conditioning|clip/i;

/** Nodes that say how large a picture is begun. */
function sizesOf(nodes: Nodes): Size[] {
  return Object.entries(nodes).flatMap(([node, { class_type }]): Size[] => {
    const width = literalAt(nodes, node, "width");
    const height = literalAt(nodes, node, "height");
    if (width === undefined || height === undefined || !isPixels(width.value) || !isPixels(height.value))
      return [];
    return NO_SIZE.test(class_type) ? [] : [{ node, width, height }];
  });
}

function isPixels(value: Json): boolean {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 1_000_000;
}

function sizeText({ width, height }: Size): string {
  return `${width.value}x${height.value}`;
}

function sizeQuestion(sizes: readonly Size[]): Question[] {
  const groups = Map.groupBy(sizes, sizeText);
  const options = [...groups].map(([text, group]): Option => {
    const width = unique(group.map((each) => each.width));
    const height = unique(group.map((each) => each.height));
    const ids = group.map(({ node }) => node).join(" and ");
    const puts = [...put("size", width, "width"), ...put("size", height, "height")];
    return { label: `node ${shown(ids, 80)}: ${text}`, puts };
  });
  return options.length === 0 ? [] : [{ about: "the size", options }];
}

function batchQuestion(nodes: Nodes, sizes: readonly Size[]): Question[] {
  const batches = sizes.flatMap(({ node }) => literalAt(nodes, node, "batch_size") ?? []);
  const isNumber = ({ value }: Literal) => typeof value === "number";
  return batches.some(isNumber) ? [certain("how many", put("n", unique(batches.filter(isNumber))))] : [];
}

const LENGTHS = ["length", "num_frames", "video_frames", "frames"];

function lengthQuestion(nodes: Nodes, sizes: readonly Size[]): Question[] {
  const lengths = sizes.flatMap(({ node }) =>
    LENGTHS.flatMap((input) => literalAt(nodes, node, input) ?? []),
  );
  const numbers = unique(lengths.filter(({ value }) => typeof value === "number"));
  return numbers.length === 0 ? [] : [certain("the length", put("duration", numbers))];
}

function seedQuestion(nodes: Nodes): Question[] {
  const seeds = Object.keys(nodes).flatMap((id) =>
    ["seed", "noise_seed"].flatMap((input) => literalAt(nodes, id, input) ?? []),
  );
  const numbers = unique(seeds.filter(({ value }) => typeof value === "number"));
  return numbers.length === 0 ? [] : [certain("the seed", put("seed", numbers))];
}

function numberNamed(nodes: Nodes, names: readonly string[]): number | undefined {
  const values = Object.keys(nodes).flatMap((id) => names.map((input) => literalAt(nodes, id, input)?.value));
  return values.find((value): value is number => typeof value === "number" && value > 0);
}

/** The loaders of files, and what each kind of file is called among inputs. */
const LOADERS: readonly {
  readonly type: RegExp;
  readonly inputs: readonly string[];
  readonly role?: InputRole;
}[] = [
  { type: /^LoadImageMask$/, inputs: ["image"], role: "mask" },
  { type: /load.*image|image.*load/i, inputs: ["image"] },
  { type: /load.*video|video.*load/i, inputs: ["video", "file"], role: "video" },
  { type: /load.*audio|audio.*load/i, inputs: ["audio"], role: "audio" },
];

function inputQuestions(nodes: Nodes, kind: TaskKind): Question[] {
  const taken = new Set<InputRole>();
  return Object.entries(nodes).flatMap(([node, { class_type, inputs }]): Question[] => {
    const loader = LOADERS.find(({ type }) => type.test(class_type));
    const input = loader?.inputs.find((name) => typeof inputs[name] === "string");
    if (loader === undefined || input === undefined) return [];
    const literal = { place: { node, input }, value: inputs[input] ?? null };
    const as = (role: InputRole): Option => ({
      label: `the ${role} of a request`,
      puts: put(role, [literal]),
    });
    if (loader.role !== undefined) return [certain(`the ${loader.role}`, as(loader.role).puts)];
    const masked: Option = {
      label: "the image of a request, with its mask",
      puts: [...put("image", [literal]), ...put("mask", [literal])],
    };
    const guess = roleOf(nodes, node, kind, taken);
    taken.add(guess);
    const roles: readonly InputRole[] =
      kind === "video" ? ["first_frame", "last_frame", "reference"] : ["image", "reference"];
    const others = roles.filter((role) => role !== guess).map(as);
    const stays: Option = { label: `stays as it is: ${shown(String(literal.value), 40)}`, puts: [] };
    const isMasked = kind === "image" && guess === "image" && isUsedAsMask(nodes, node);
    const options = isMasked ? [masked, as(guess), ...others] : [as(guess), ...others];
    return [{ about: `the picture of node ${nameOf(nodes, node)}`, options: [...options, stays] }];
  });
}

/** What a loaded picture is for, by the inputs that it goes to. */
function roleOf(nodes: Nodes, node: string, kind: TaskKind, taken: ReadonlySet<InputRole>): InputRole {
  const uses = Object.values(nodes).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((name) => linkedNode(inputs[name]) === node),
  );
  const isFilmed = kind === "video";
  if (isFilmed && uses.some((name) => /end|last/i.test(name))) return "last_frame";
  if (isFilmed && uses.some((name) => /start|first/i.test(name))) return "first_frame";
  if (uses.some((name) => /ref|style|subject/i.test(name))) return "reference";
  const usual = isFilmed ? "first_frame" : "image";
  return taken.has(usual) ? "reference" : usual;
}

/** Whether its second output, which is its transparency, is used. */
function isUsedAsMask(nodes: Nodes, node: string): boolean {
  const links: Json[] = Object.values(nodes).flatMap(({ inputs }) =>
    Object.values(inputs).map((value) => value ?? null),
  );
  return links.some((value) => linkedNode(value) === node && Array.isArray(value) && value[1] === 1);
}

/** The nodes that keep files. Their names are all that tells them. */
function saversOf(nodes: Nodes): { readonly id: string; readonly isVideo: boolean }[] {
  const ids = Object.keys(nodes).filter((id) => {
    const { class_type = "" } = nodes[id] ?? {};
    return (
      (/save/i.test(class_type) &&
        /image|video|web[mp]|png|jpe?g|gif|anim/i.test(class_type) &&
        !/websocket/i.test(class_type)) ||
      /videocombine/i.test(class_type)
    );
  });
  const isPreviewed = Object.values(nodes).some(({ class_type }) =>
    /preview.*image|websocket/i.test(class_type),
  );
  if (ids.length === 0 && isPreviewed)
    throw new WorkflowError(
      "saves no file: what a preview makes is thrown away. Put a Save Image or Save Video node in its place",
    );
  return ids.map((id) => ({ id, isVideo: /video|webm|anim|gif/i.test(nodes[id]?.class_type ?? "") }));
}

/** Of several, the guess is the one that most nodes lead to. */
function outputQuestion(nodes: Nodes, savers: readonly string[]): Question[] {
  const ranked = savers
    .map((id) => ({ id, work: ancestors(nodes, id).size }))
    .sort((a, b) => b.work - a.work)
    .map(({ id }): Option => ({ label: `node ${nameOf(nodes, id)}`, puts: [], output: id }));
  const all: Option = { label: "all files that it saves", puts: [] };
  const options = ranked.length > 1 ? [...ranked, all] : ranked;
  return [{ about: "the result", options: options.length === 0 ? [all] : options }];
}
