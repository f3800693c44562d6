import { useEffect, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";

/** What the service's checker says of a text. */
export interface Check {
  /** Of the text as it was a moment ago; undefined before the first answer. */
  readonly found: Schemas["ManifestCheck"] | undefined;
  /** The text is another one since. */
  readonly isChecking: boolean;
  readonly problem: unknown;
}

/** While somebody types, milliseconds. */
const PAUSE_MS = 400;

/** Has a text checked a moment after its last change. Nothing is written. */
export function useCheck(text: string): Check {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const due = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(due);
  }, [text]);
  const { data, problem, isReading } = useReading(settled, (signal) => check(settled, signal));
  // The findings of before stay until the next ones are there: most are at the same lines.
  const [latest, setLatest] = useState<Check["found"]>();
  useEffect(() => {
    if (data !== undefined) setLatest(data);
  }, [data]);
  return { found: data ?? latest, isChecking: isReading || settled !== text, problem };
}

async function check(text: string, signal: AbortSignal): Promise<Schemas["ManifestCheck"]> {
  if (text === "") return { model: null, findings: [{ line: 1, column: 1, message: "It is empty." }] };
  return ask("POST /admin/v1/models/check", { body: { text } }, { signal });
}
