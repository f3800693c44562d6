import { type Beginning, beginModel } from "../catalog/beginning/begin.ts";
import { MOST_WORKFLOW_BYTES, WorkflowError } from "../catalog/beginning/graph.ts";

/** The most that the file of a workflow may be. */
export const MOST_BYTES = MOST_WORKFLOW_BYTES;
export type ModelBeginning = Beginning;

/** Begins a model with a workflow, or says why that cannot be: a clause that the name of its file begins. */
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
