import { ask } from "../../api/ask.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { counted } from "../../parts/count.ts";
import { Reading } from "../../parts/page.tsx";
import { Status, type Tone } from "../../parts/status.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { type Readiness, verdictOn } from "./readiness.ts";

type Check = Readiness["checks"][number];

const READ_MS = 15_000;
const TONES: Readonly<Record<string, Tone>> = { ok: "good", warn: "warn", error: "bad" };

/** Whether all is well, in one line; what is not, with what puts it right; and what else was looked at. */
export function Verdict() {
  const reading = useReading("readiness", (signal) => ask("GET /admin/v1/readiness", {}, { signal }));
  useEvery(READ_MS, reading);
  const { data, problem, again } = reading;
  return (
    <>
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="how the service does" />}
      {data !== undefined && <Told readiness={data} />}
    </>
  );
}

function Told({ readiness }: { readonly readiness: Readiness }) {
  const { checks } = readiness;
  const { text, tone, more } = verdictOn(readiness);
  const wrong = checks
    .filter(({ status }) => status !== "ok")
    .sort((one, other) => Number(other.status === "error") - Number(one.status === "error"));
  const well = checks.filter(({ status }) => status === "ok");
  return (
    <section
      aria-label="Verdict"
      class={`flex min-w-0 flex-col gap-3 rounded-xl border bg-card p-4 sm:p-5 ${BORDERS[tone]}`}
    >
      <div role="status" class="text-xl font-semibold tracking-tight">
        <Status word={text} tone={tone} isSentence />
      </div>
      {more.map((line) => (
        <p key={line} class="text-soft">
          {line}
        </p>
      ))}
      {wrong.length > 0 && <Checks label="Checks that found something" checks={wrong} />}
      {well.length > 0 && (
        <details>
          <summary class="text-soft">{counted(well.length, "check")} found nothing wrong</summary>
          <div class="mt-3">
            <Checks label="Checks that found nothing wrong" checks={well} />
            <p class="mt-3 text-sm text-soft">
              On the machine of the service, <code class="font-mono text-ink">svc doctor</code> looks further:
              at the network, the keys of providers, and what the system allows.
            </p>
          </div>
        </details>
      )}
    </section>
  );
}

const BORDERS: Readonly<Record<Tone, string>> = {
  ...{ good: "border-good", warn: "border-warn", bad: "border-bad" },
  ...{ busy: "border-line", idle: "border-line" },
};

function Checks({ label, checks }: { readonly label: string; readonly checks: readonly Check[] }) {
  return (
    <ul aria-label={label} class="flex flex-col gap-3">
      {checks.map(({ id, status, message, fix }) => (
        // Several findings may have the same name.
        <li
          key={`${id} ${message}`}
          class="grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-[12rem_minmax(0,1fr)]"
        >
          <Status word={id} tone={TONES[status] ?? "idle"} />
          <div class="min-w-0 wrap-anywhere">
            <p>{message}</p>
            {fix !== null && (
              <p class="text-soft">
                What puts it right: <span class="font-mono text-[0.875em] text-ink">{fix}</span>
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
