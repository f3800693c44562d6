import type { StreamState } from "../../api/stream.ts";
import { Status, type Tone } from "../../parts/status.tsx";

interface Props {
  readonly stream: StreamState;
  readonly turnedAt: number | undefined;
  readonly isPaused: boolean;
  /** Changes that were told since the pause began. */
  readonly waiting: number;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const clockText = (atSec: number) => time.format(atSec * 1_000);

/** Whether what is shown is the present, and if not, why. */
export function ConnectionLine({ stream, turnedAt, isPaused, waiting }: Props) {
  const { word, tone, text } = said(stream, turnedAt);
  return (
    <div class="flex min-h-6 flex-wrap items-center gap-x-3 gap-y-1">
      <p role="status" class="flex min-w-0 flex-wrap items-center gap-x-3">
        <Status word={isPaused ? "paused" : word} tone={isPaused ? "warn" : tone} />
        <span class="text-soft">{isPaused ? "What you see stays as it is until you go on." : text}</span>
      </p>
      {/* Not told aloud: it grows all the time. */}
      {isPaused && waiting > 0 && (
        <span class="text-soft tabular-nums">
          {waiting} {waiting === 1 ? "change waits" : "changes wait"}.
        </span>
      )}
    </div>
  );
}

function said(
  stream: StreamState,
  turnedAt: number | undefined,
): { readonly word: string; readonly tone: Tone; readonly text: string } {
  const at = turnedAt === undefined ? "" : clockText(turnedAt);
  if (stream.kind === "opening") return { word: "connecting", tone: "idle", text: "" };
  if (stream.kind === "refused") return { word: "not live", tone: "bad", text: "" };
  if (stream.kind === "broken") {
    const why = stream.problem === undefined ? "" : ` ${stream.problem.message}`;
    const text = `The connection broke at ${at}.${why} It is tried again by itself.`;
    return { word: "not connected", tone: "warn", text };
  }
  const text = at === "" ? "" : `The connection broke, and is back since ${at}. Nothing was missed.`;
  return { word: "live", tone: "good", text };
}
