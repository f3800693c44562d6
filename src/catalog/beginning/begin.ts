import type { TaskKind } from "../../domain/task/request.ts";
import { MAX_MANIFEST_BYTES } from "../own-models.ts";
import { createManifestReader, ManifestError, type ManifestReader } from "../read-manifest.ts";
import { findSlots, type Question } from "./find.ts";
import { readGraph, WorkflowError } from "./graph.ts";
import { type Answered, writeManifest } from "./write.ts";

export interface Beginning {
  readonly kind: TaskKind;
  /** What can be said in several ways, each with the guess first. */
  readonly questions: readonly Question[];
  /**
   * Writes the manifest.
   *
   * @param answers the number of the option for each question; undefined takes the guess, and marks it
   */
  write(
    to: { readonly id: string; readonly source: string },
    answers: readonly (number | undefined)[],
  ): BegunModel;
}

export interface BegunModel {
  readonly text: string;
  /** The fields that have slots. */
  readonly fields: readonly string[];
  /** Choices that nobody was asked about. */
  readonly guesses: number;
}

/**
 * Begins a model with a workflow in the format of the API.
 *
 * @param reader checks what is written; one takes long to be ready, so whoever begins many gives the same
 * @throws WorkflowError
 */
export function beginModel(
  workflow: string,
  provider: string,
  reader: ManifestReader = createManifestReader(),
): Beginning {
  const nodes = readGraph(workflow);
  const { kind, questions: all, fps } = findSlots(nodes);
  const open = all.filter(({ options }) => options.length > 1);
  return {
    kind,
    questions: open,
    write(to, answers) {
      const answered = all.flatMap((question): Answered[] => {
        const at = open.indexOf(question);
        const answer = at === -1 ? 0 : answers[at];
        const chosen = question.options[answer ?? 0];
        return chosen === undefined ? [] : [{ ...question, chosen, isGuess: answer === undefined }];
      });
      const fields = new Set(answered.flatMap(({ chosen }) => chosen.puts.map(({ field }) => field)));
      if (fields.size === 0)
        throw new WorkflowError(
          "has nothing that a request could say: no text, size, seed or file was found in it",
        );
      const text = writeManifest({ ...to, kind, provider, nodes, answers: answered, fps });
      check(text, reader);
      return { text, fields: [...fields], guesses: answered.filter(({ isGuess }) => isGuess).length };
    },
  };
}

/** What a server would say of it. */
function check(text: string, reader: ManifestReader): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MANIFEST_BYTES)
    throw new WorkflowError(
      `would make a manifest of ${bytes} bytes, and the most is ${MAX_MANIFEST_BYTES}; remove long texts and pictures from its nodes`,
    );
  try {
    reader.read("the manifest", text);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new WorkflowError(`makes no manifest that can be used:\n${error.message}`);
  }
}
