import { ProviderError } from "../../domain/ports/provider.ts";
import { reasonOf } from "./http.ts";

/** Builds a request, which reads its inputs. If that fails, nothing was sent, and the upstream is not the cause. */
export async function beforeSending<T>(word: () => Promise<T>): Promise<T> {
  try {
    return await word();
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const detail = `The request could not be put together: ${reasonOf(error)}`;
    throw new ProviderError("retry", "UPSTREAM_ERROR", detail, {}, error);
  }
}
