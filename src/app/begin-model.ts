import { type Beginning, beginModel } from "../catalog/beginning/begin.ts";
import { MOST_WORKFLOW_BYTES, WorkflowError } from "../catalog/beginning/graph.ts";

/** Largest size of a workflow file. */
export const MOST_BYTES = MOST_WORKFLOW_BYTES;
export type ModelBeginning = Beginning;

/** Begins a model from a workflow, or says why that is impossible: a clause that begins with the file's name. */
export async function beginModelWith<Result extends object>(
  workflow: string,
  provider: string,
  use: (beginning: ModelBeginning) => Promise<Result>,
): Promise<Result | { readonly problem: string }> {
  try {
    return await use(beginModel(workflow, provider));
  } catch (error) {
    if (error instanceof WorkflowError) return { problem: error.message };
    throw error;
  }
}
