import { json } from "../playground/snippet-parts.ts";

/** The same POST from a terminal, without a signature. */
export function curlOf(url: string, payload: object): string {
  return `curl -sS -i ${quoted(url)} \\
  -H "Content-Type: application/json" \\
  --data-binary @- <<'END'
${json(payload, 2)}
END
`;
}

/** A text that no shell reads anything into. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
