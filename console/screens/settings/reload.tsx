import { Link } from "../../parts/link.tsx";
import { Status } from "../../parts/status.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { Setting } from "./list.ts";
import { type Reloaded, toneOf, verdictOn } from "./reloaded.ts";

interface Props {
  readonly reloaded: Reloaded;
  readonly settings: readonly Setting[];
}

/** What came of reading the settings anew. */
export function ReloadResult({ reloaded, settings }: Props) {
  const { in_force, changed, restart, problems } = reloaded;
  return (
    <section
      aria-label="What came of the reload"
      class={`flex min-w-0 flex-col gap-3 rounded-xl border bg-card p-4 ${in_force ? "border-line" : "border-bad"}`}
    >
      <div role="status" class="font-medium">
        <Status word={verdictOn(reloaded)} tone={toneOf(reloaded)} isSentence />
      </div>
      {problems.length > 0 && (
        <ul aria-label="What is wrong" class="flex flex-col gap-1 font-mono text-sm">
          {problems.map((problem) => (
            <li key={problem} class="wrap-anywhere">
              {problem}
            </li>
          ))}
        </ul>
      )}
      <Keys title="In force now" keys={changed} reasonOf={() => undefined} />
      <Keys
        title="Changed in the file, and waiting for a restart"
        keys={restart}
        reasonOf={(key) => settings.find((setting) => setting.key === key)?.restart ?? undefined}
      />
    </section>
  );
}

function Keys({
  title,
  keys,
  reasonOf,
}: {
  readonly title: string;
  readonly keys: readonly string[];
  readonly reasonOf: (key: string) => string | undefined;
}) {
  if (keys.length === 0) return null;
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <p class="text-soft">{title}:</p>
      <ul class="flex flex-col gap-1">
        {keys.map((key) => {
          const reason = reasonOf(key);
          return (
            <li key={key} class="wrap-anywhere">
              <Link href={hrefOf("settings", "", { q: key })}>
                <code class="font-mono text-[0.875em]">{key}</code>
              </Link>
              {reason !== undefined && <span class="text-soft">: {reason}</span>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
