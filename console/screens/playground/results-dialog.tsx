import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Reading } from "../../parts/page.tsx";
import { Preview } from "../../parts/preview.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import type { MediaKind } from "./files.ts";
import type { Media } from "./request.ts";

interface Props {
  readonly kind: MediaKind;
  readonly onClose: () => void;
  /** Is given which task and which of its results, besides. */
  readonly onMedia: (media: Media, taskId: string, index: number) => void;
}

const SHOWN = 40;

/** Results of earlier tasks, the latest first, to be used as an input. */
export function ResultsDialog({ kind, onClose, onMedia }: Props) {
  const [after, setAfter] = useState<readonly string[]>([]);
  const reading = useReading(`${kind} ${after.at(-1) ?? ""}`, (signal) =>
    ask(
      "GET /v1/tasks",
      {
        query: {
          ...{ status: "completed", limit: SHOWN, kind: kind === "video" ? "video" : "image" },
          ...(after.length > 0 && { after: after.at(-1) ?? "" }),
        },
      },
      { signal },
    ),
  );
  const { data, problem } = reading;
  const results = resultsOf(data?.tasks ?? []);
  return (
    <Dialog title="Earlier results" onClose={onClose}>
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="earlier results" />}
      {data !== undefined && results.length === 0 && (
        <Empty title="No results yet">What your tasks have made can be used here as an input.</Empty>
      )}
      <ul class="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-2">
        {results.map(({ task_id, model, url, index }) => (
          <li key={url}>
            <button
              type="button"
              class="block w-full overflow-hidden rounded-lg border border-line bg-sunk hover:border-accent"
              aria-label={`Use result ${index + 1} of task …${task_id.slice(-8)} by ${model}`}
              onClick={() =>
                onMedia(
                  { uri: url, name: `…${task_id.slice(-8)} · ${index + 1}`, isShown: true },
                  task_id,
                  index,
                )
              }
            >
              <Preview
                url={url}
                isVideo={kind === "video"}
                width={160}
                alt=""
                look="block aspect-square w-full object-contain"
                instead="No preview"
              />
            </button>
          </li>
        ))}
      </ul>
      {data?.next != null && (
        <div class="mt-3 text-center">
          <Button onClick={() => setAfter([...after, data.next ?? ""])}>Show older ones</Button>
        </div>
      )}
    </Dialog>
  );
}

/** Each result whose file is there, with its task and its place among the results. */
function resultsOf(tasks: readonly Schemas["ListedTask"][]) {
  return tasks
    .filter(({ files_removed_at }) => files_removed_at === undefined)
    .flatMap(({ task_id, model, result = [] }) =>
      result.map((url, index) => ({ task_id, model, url, index })),
    );
}
