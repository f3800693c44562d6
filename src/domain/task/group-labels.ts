import { canonicalJson } from "../canonical-json.ts";
import type { Json } from "../json.ts";
import type { GenerationRequest } from "./request.ts";
import type { TaskSummary } from "./task.ts";

/** A task of a group with its request. */
export interface LabelledMember {
  /** From 0, in the group. */
  readonly place: number;
  readonly task: TaskSummary;
  readonly request: GenerationRequest;
}

/**
 * The label for the results of each member: its number and model, and in a second line the fields that differ from the group's
 * other requests of that model.
 */
export function memberLabels(members: readonly LabelledMember[]) {
  return members.map(({ place, task, request }) => {
    const alike = members
      .filter(({ task: { model } }) => model === task.model)
      .map((each) => fieldsOf(each.request));
    const own = fieldsOf(request);
    const names = new Set(alike.flatMap((fields) => Object.keys(fields)));
    const telling = [...names].filter(
      (name) => new Set(alike.map((fields) => textOf(fields[name]))).size > 1,
    );
    const differing = telling.flatMap((name) =>
      own[name] === undefined ? [] : [`${name} ${textOf(own[name])}`],
    );
    const count = task.results.length;
    return {
      task,
      /** @param i position of the result, from 0 */
      labels(i: number): readonly string[] {
        const part = count > 1 ? ` (${i + 1} of ${count})` : "";
        return [
          `${place + 1}. ${task.model}${part}`,
          ...(differing.length === 0 ? [] : [differing.join(" · ")]),
        ];
      },
    };
  });
}

function fieldsOf({ prompt, n, parameters }: GenerationRequest): Readonly<Record<string, Json | undefined>> {
  return { ...parameters, n, prompt };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "" : canonicalJson(value);
}
