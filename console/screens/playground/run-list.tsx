import { Empty } from "../../parts/empty.tsx";
import { runs } from "./draft.ts";
import { RunCard } from "./run-card.tsx";
import { forget, isLive } from "./runs.ts";

interface Props {
  readonly nameOf: (model: string) => string;
  /** Takes a result as an input of the next request. */
  readonly onUse: (url: string, taskId: string) => void;
}

/** What was run, the latest first; models of one press side by side. */
export function RunList({ nameOf, onUse }: Props) {
  const all = runs.value;
  const groups = [...new Set(all.map(({ group }) => group))];
  // Streams of one page are few: the browser has six connections to the service for all of its pages.
  const shown = new Set(
    all
      .filter((run) => run.previews && isLive(run))
      .slice(0, 2)
      .map(({ key }) => key),
  );
  if (groups.length === 0)
    return (
      <Empty title="Results appear here">
        Write a prompt and press Run. You see how it goes, early versions where the model shows them, and the
        result. What failed says why and costs nothing. The same request as code is below the form.
      </Empty>
    );
  return (
    <ol class="flex flex-col gap-6" aria-label="Runs, the latest first">
      {groups.map((group) => {
        const within = all.filter((run) => run.group === group);
        return (
          <li key={group} class="flex min-w-0 flex-col gap-2">
            <div class="flex items-start gap-3">
              <p class="line-clamp-2 min-w-0 grow text-sm break-words text-soft">
                <bdi>{within[0]?.prompt || "Without a prompt"}</bdi>
              </p>
              {!within.some(isLive) && (
                <button
                  type="button"
                  class="px-1 text-sm text-soft hover:text-ink"
                  aria-label="Remove this run from the page; its tasks stay"
                  onClick={() => forget(group)}
                >
                  ×
                </button>
              )}
            </div>
            <ul
              class={`grid gap-3 ${within.length > 1 ? "grid-cols-[repeat(auto-fit,minmax(min(16rem,100%),1fr))]" : ""}`}
            >
              {within.map((run) => (
                <li key={run.key} class="min-w-0">
                  <RunCard {...{ run, onUse }} name={nameOf(run.model)} isPreviewed={shown.has(run.key)} />
                </li>
              ))}
            </ul>
          </li>
        );
      })}
    </ol>
  );
}
