import { ProviderError } from "../../domain/ports/provider.ts";
import { reasonOf } from "./http.ts";

/** Words a request, for which its inputs are read. Nothing was sent when that fails: the upstream has no part in it. */
export async function beforeSending<T>(word: () => Promise<T>): Promise<T> {
  try {
    return await word();
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const detail = `The request could not be put together: ${reasonOf(error)}`;
    throw new ProviderError("retry", "UPSTREAM_ERROR", detail, {}, error);
  }
}
