import type { Answer, AnswerHeader, Schema } from "../openapi/contract.ts";

export function jsonAnswer(
  description: string,
  schema: Schema,
  headers: readonly AnswerHeader[] = [],
): Answer {
  return { description, content: { "application/json": schema }, headers };
}

export function jsonBody(schema: Schema): Readonly<Record<string, Schema>> {
  return { "application/json": schema };
}
