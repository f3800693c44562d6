import { beginForm, OPENAPI_BYTES } from "../providers/declared/beginning/begin.ts";
import { OpenApiError } from "../providers/declared/beginning/openapi.ts";

/** Largest size of an OpenAPI document. */
export const MOST_OPENAPI_BYTES = OPENAPI_BYTES;

/** The start of a form, or why the document cannot be used. */
export async function beginFormText(
  id: string,
  openapi?: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: await beginForm(id, openapi) };
  } catch (error) {
    if (error instanceof OpenApiError) return { problem: error.message };
    throw error;
  }
}
