import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Output, PollResult } from "../../domain/ports/provider.ts";
import type { TaskKind } from "../../domain/task/request.ts";

/** The names under which nodes list the files of each kind of task. Nodes list videos under `images`, and pictures next to videos. */
const ENDINGS: Readonly<Record<TaskKind, RegExp>> = {
  image: /\.(?:png|jpe?g|webp)$/i,
  video: /\.(?:mp4|webm|mov|mkv|m4v)$/i,
};

/** Which files of its prompt a task wants. */
export interface Wanted {
  readonly kind: TaskKind;
  /** Ids of the nodes whose files count. Absent: all. */
  readonly outputs?: readonly string[] | undefined;
}

/** The files of a finished prompt: `{<node>: {images|gifs|video|…: [{filename, subfolder, type}]}}`. Previews are `temp`, and none. */
export function readOutputs(outputs: Json | undefined, wanted: Wanted): PollResult {
  const byNode = isJsonObject(outputs) ? outputs : {};
  const nodes = wanted.outputs ?? Object.keys(byNode).sort(byNumber);
  const files = nodes.flatMap((id) => {
    const node = Object.hasOwn(byNode, id) ? byNode[id] : undefined;
    return isJsonObject(node) ? filesOf(node) : [];
  });
  const made = files.filter(({ filename }) => ENDINGS[wanted.kind].test(String(filename)));
  if (made.length > 0) return { kind: "succeeded", outputs: made.map((file) => toOutput(file, wanted.kind)) };
  const found = files.length === 0 ? "no file" : `no ${wanted.kind} among ${files.length} files`;
  return {
    kind: "failed",
    code: "UPSTREAM_ERROR",
    message: "The provider finished without an output.",
    detail: `ComfyUI: the prompt ended well with ${found}; a node that saves them, or the route's outputs, may be wrong`,
    mayReroute: true,
  };
}

function filesOf(node: JsonObject): JsonObject[] {
  return Object.values(node)
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter(isJsonObject)
    .filter(({ filename, type = "output" }) => typeof filename === "string" && type === "output");
}

function toOutput({ filename = "", subfolder }: JsonObject, kind: TaskKind): Output {
  const folder = typeof subfolder === "string" && subfolder !== "" ? { subfolder } : {};
  return { kind: "remote", ref: { filename, ...folder, kind } };
}

/** `9` before `10`, and before the `10:3` of a group. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** A file that was made: where it is, and what it should be. */
export interface MadeFile {
  readonly path: string;
  readonly kind: TaskKind;
}

/** Reads a reference to a file; undefined for what is none. */
export function readFile(ref: Json): MadeFile | undefined {
  const { filename, subfolder = "", kind } = isJsonObject(ref) ? ref : {};
  if (typeof filename !== "string" || filename === "" || typeof subfolder !== "string") return undefined;
  if (kind !== "image" && kind !== "video") return undefined;
  return { kind, path: `/view?${new URLSearchParams({ filename, subfolder, type: "output" })}` };
}
