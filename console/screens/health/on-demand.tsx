import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { nowMs } from "../../api/connection.ts";
import { Button } from "../../parts/button.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";

interface Props<Found> {
  readonly title: string;
  /** What is looked at, and what it costs. */
  readonly about: string;
  /** What the button says. */
  readonly action: string;
  /** @throws ApiProblem */
  readonly look: () => Promise<Found>;
  /** What was found, in a few words. */
  readonly headline: (found: Found) => ComponentChildren;
  /** All of it. */
  readonly children: (found: Found) => ComponentChildren;
}

/** Something that is looked at when the reader asks for it, because it reads much. What was found stays until the next look. */
export function OnDemand<Found>({ title, about, action, look, headline, children }: Props<Found>) {
  const [found, setFound] = useState<{ readonly at: number; readonly what: Found }>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const what = await look();
      setFound({ at: nowMs() / 1_000, what });
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={title} about={about}>
      <div class="flex flex-wrap items-center gap-3">
        <Button isBusy={isBusy} onClick={() => void start()}>
          {isBusy ? "Looking…" : action}
        </Button>
        {found !== undefined && !isBusy && (
          <span class="text-sm text-soft">
            looked at <Time at={found.at} />
          </span>
        )}
      </div>
      {problem !== undefined && <Trouble problem={problem} />}
      <div role="status" class="font-medium">
        {found !== undefined && headline(found.what)}
      </div>
      {found !== undefined && children(found.what)}
    </Card>
  );
}

/** A part of the screen with something to press. */
export function Card({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="flex min-w-0 flex-col gap-3 rounded-xl border border-line bg-card p-4">
      <h3 class="font-medium">{title}</h3>
      <p class="text-sm text-soft">{about}</p>
      {children}
    </section>
  );
}
