import { useState } from "preact/hooks";
import { ROOT } from "../../api/connection.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { values } from "./draft.ts";
import { type Body, contentOf, type ModelInFull, mapTexts, mediaIn, type Request } from "./request.ts";
import { snippetsOf } from "./snippets.ts";

const CHOICE = "svc.playground.language";

/** The same request as code, for whoever goes on in a program. */
export function Code({ model, request }: { readonly model: ModelInFull; readonly request: Request }) {
  const [title, setTitle] = useState(() => remembered());
  const media = model.inputs.flatMap(({ field }) => mediaIn(values.value[field]));
  const contents = new Map(media.map((each) => [each.uri, contentOf(each)]));
  const snippets = snippetsOf({
    ...{ root: ROOT.href, kind: model.kind, inputs: model.inputs },
    // A program reads files of this machine itself: what was uploaded from here goes after a day.
    body: mapTexts(request.body, (text) => contents.get(text) ?? text) as Body,
    names: new Map(media.flatMap((each) => (each.name === undefined ? [] : [[contentOf(each), each.name]]))),
  });
  const shown = snippets.find((each) => each.title === title) ?? snippets[0];
  const choose = (next: string) => {
    setTitle(next);
    remember(next);
  };
  return (
    <details class="rounded-lg border border-line bg-card">
      <summary class="px-3 py-2 text-sm font-medium">The same request as code</summary>
      <div class="flex min-w-0 flex-col gap-3 border-t border-line p-3">
        <label class="flex flex-wrap items-center gap-2 text-sm">
          Language
          <select
            class="min-h-9 rounded-md border border-edge bg-card px-2 text-ink"
            value={shown?.title}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            {snippets.map((each) => (
              <option key={each.title}>{each.title}</option>
            ))}
          </select>
        </label>
        {shown !== undefined && <CodeBlock label={`The request as ${shown.title}`} text={shown.text} />}
        <p class="text-sm text-soft">
          The key is left out: put it in <code class="font-mono">SVC_API_KEY</code>. Files are named as they
          lie beside the program.
        </p>
      </div>
    </details>
  );
}

function remembered(): string {
  try {
    return localStorage.getItem(CHOICE) ?? "curl";
  } catch {
    return "curl";
  }
}

function remember(title: string): void {
  try {
    localStorage.setItem(CHOICE, title);
  } catch {
    // It is chosen anew the next time.
  }
}
