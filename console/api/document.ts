import { ask } from "./ask.ts";

/** As much of a schema as forms are made of. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  /** Values to which later versions may add. */
  readonly "x-extensible-enum"?: readonly string[];
  readonly pattern?: string;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** As much of what the service publishes of itself as forms are made of. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

let document: Promise<Document> | undefined;

/** Read once, when the first form needs it. @throws ApiProblem */
export async function readDocument(): Promise<Document> {
  document ??= ask("GET /openapi.json", {}) as unknown as Promise<Document>;
  return document.catch((error: unknown) => {
    document = undefined;
    throw error;
  });
}

/** The values that a parameter takes. */
export function valuesOf({ paths }: Document, path: string, parameter: string): string[] {
  const found = paths[path]?.get?.parameters?.find(({ name }) => name === parameter)?.schema.enum ?? [];
  return found.filter((value): value is string => value !== null);
}
