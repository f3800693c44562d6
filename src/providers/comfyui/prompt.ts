import { isJsonObject, type Json } from "../../domain/json.ts";
import type { WorkflowNode } from "../../domain/model/workflow.ts";
import { ProviderError, type Submission } from "../../domain/ports/provider.ts";
import type { Wanted } from "./result.ts";

/** A prompt that was sent to a server, as stored with its attempt. */
export interface Prompt extends Wanted {
  readonly id: string;
  /** How many nodes it has. */
  readonly nodes: number;
  /** Ids of the nodes that do most of the work. */
  readonly heavy: ReadonlySet<string>;
  /** By our clock, epoch milliseconds. */
  readonly submittedAt: number;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** The stored handle of a prompt. */
export function openPrompt(submission: Submission, id: string, submittedAt: number): Json {
  // When the model of a submission is gone, only the prompt is known.
  const { outputs, nodes = {} } = submission.wording?.workflow ?? {};
  const all = Object.entries(nodes);
  return {
    prompt_id: id,
    kind: submission.request.kind,
    ...(outputs && { outputs }),
    nodes: all.length,
    heavy: all.filter(([, node]) => isHeavy(node)).map(([node]) => node),
    submitted_at: submittedAt,
  };
}

/** Nodes that sample take nearly all of the time. */
function isHeavy({ class_type }: WorkflowNode): boolean {
  return /sampler/i.test(class_type) && !/select|guider$/i.test(class_type);
}

/** Reads a stored handle. @throws ProviderError `fail` for what is none */
export function readPrompt(handle: Json): Prompt {
  const { prompt_id: id, kind, outputs, nodes, heavy, submitted_at: at } = isJsonObject(handle) ? handle : {};
  if (!isPromptId(id) || (kind !== "image" && kind !== "video") || typeof at !== "number")
    throw new ProviderError("fail", "UPSTREAM_ERROR", "ComfyUI: this is no prompt of a server");
  return {
    ...{ id, kind, submittedAt: at },
    outputs: Array.isArray(outputs) ? outputs.map(String) : undefined,
    nodes: typeof nodes === "number" ? nodes : 1,
    heavy: new Set(Array.isArray(heavy) ? heavy.map(String) : []),
  };
}

export function isPromptId(value: Json | undefined): value is string {
  return typeof value === "string" && ID.test(value);
}
