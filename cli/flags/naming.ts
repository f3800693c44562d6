import { AppError } from "../../src/domain/errors.ts";
import { namesFrom } from "../../src/domain/words/say.ts";
import { usage } from "../failure.ts";

/**
 * Waits for a call whose arguments came from flags. A refusal of one of them names the flag and ends with exit code 2.
 *
 * @param flags the flags, by the fields of the management API that they give
 */
export async function namingFlags<T>(done: Promise<T>, flags: Readonly<Record<string, string>>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (!(error instanceof AppError) || error.param === undefined) throw error;
    const renamed = error.renamed(namesFrom(flags));
    throw renamed.param === error.param ? error : usage(renamed.message);
  }
}
