import type { Asset } from "../domain/media/asset.ts";
import type { Micros } from "../domain/money/money.ts";
import type { MediaInput } from "../domain/task/request.ts";
import { collectInputs, type InputContext, type InputDeps, type Uploads } from "./collect-inputs.ts";
import { type FundsDeps, requireFunds } from "./require-funds.ts";

export type GivenUploads = Uploads | (() => Promise<Uploads>);

interface Asked extends Omit<InputContext, "uploads"> {
  readonly uploads?: GivenUploads | undefined;
  /** What the request holds. */
  readonly needed: Micros;
}

/**
 * The inputs of a request, whose files are kept and added to `staged`. No file is decoded for a request that cannot be paid.
 * @throws as `requireFunds` and `collectInputs` do
 */
export async function paidInputs(
  deps: InputDeps & FundsDeps,
  { needed, uploads: given, ...asked }: Asked,
): Promise<{ readonly inputs: readonly MediaInput[]; readonly assets: readonly Asset[] }> {
  await requireFunds(deps, asked.principal, needed);
  const uploads = typeof given === "function" ? await given() : given;
  const collected = await collectInputs(deps, { ...asked, uploads });
  for (const file of asked.staged) await file.keep();
  return collected;
}
