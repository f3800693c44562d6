import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { durationText } from "../../parts/duration.ts";
import { Status, type Tone } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { adviceFor } from "./advice.ts";
import type { Send } from "./read.ts";

const SHOWN = 10;
const TONES: Readonly<Record<string, Tone>> = {
  ...{ delivered: "good", refused: "warn", unreachable: "warn", forbidden: "bad", interrupted: "warn" },
};

/** Every send, the latest first, with what came back. */
export function Sends({ history }: { readonly history: readonly Send[] }) {
  const [isAll, setAll] = useState(false);
  if (history.length === 0) return <p class="text-soft">It was not sent yet.</p>;
  const latest = [...history].reverse();
  return (
    <>
      <ol aria-label="Sends, the latest first" class="flex flex-col gap-3">
        {latest.slice(0, isAll ? undefined : SHOWN).map((send) => (
          <li
            key={send.sequence}
            class="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-card p-4"
          >
            <OneSend send={send} />
          </li>
        ))}
      </ol>
      {!isAll && latest.length > SHOWN && (
        <div>
          <Button onClick={() => setAll(true)}>Show all {latest.length}</Button>
        </div>
      )}
    </>
  );
}

function OneSend({ send }: { readonly send: Send }) {
  const { sequence, kind, outcome, status, duration_ms, started_at, address, answer, error } = send;
  const advice = adviceFor(send);
  return (
    <>
      <p class="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span class="font-medium">
          {sequence}. {kind}
        </span>
        <Status word={outcome ?? "under way"} tone={outcome === null ? "busy" : (TONES[outcome] ?? "idle")} />
        {status !== null && <span class="font-mono text-sm">HTTP {status}</span>}
        {duration_ms !== null && <span class="tabular-nums">{durationText(duration_ms)}</span>}
        <Time at={started_at} />
        {address !== null && <span class="font-mono text-xs break-all sm:text-sm text-soft">{address}</span>}
      </p>
      {error !== null && <p class="wrap-anywhere text-bad">{error}</p>}
      {advice !== undefined && <p class="text-soft">{advice}</p>}
      {answer !== null && <CodeBlock label={`How the answer to send ${sequence} begins`} text={answer} />}
    </>
  );
}
