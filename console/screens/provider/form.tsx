import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { useReading } from "../../api/use.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Reading } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";

/** The form that describes the provider, read when somebody wants to see it. */
export function Form({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="font-medium">How svc talks to it</summary>
      <div class="mt-3">{isOpen && <FormText id={id} />}</div>
    </details>
  );
}

function FormText({ id }: { readonly id: string }) {
  const { data, problem, again } = useReading(id, (signal) =>
    ask("GET /admin/v1/providers/{id}", { path: { id }, query: { text: true } }, { signal }),
  );
  if (data !== undefined) return <CodeBlock label="Its form" text={data.text ?? ""} />;
  return problem === undefined ? <Reading what="the form" /> : <Trouble problem={problem} again={again} />;
}
