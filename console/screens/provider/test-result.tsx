import { durationText } from "../../parts/duration.ts";
import { moneyText } from "../../parts/money.tsx";
import { Status, type Tone } from "../../parts/status.tsx";
import type { Tested } from "./read.ts";

const RESULTS: Readonly<Record<string, readonly [word: string, tone: Tone, what?: string]>> = {
  ok: ["its key works", "good"],
  refused: ["refused", "bad", "The key, the account or the region is wrong."],
  spent: ["spent", "bad", "No money is left there."],
  unreachable: ["not reached", "bad", "Check the address, and whether this server may go there."],
  failed: ["failed", "bad"],
  untested: ["not tested", "idle"],
};

/** How an account did in a test. */
export function TestResult({ tested }: { readonly tested: Tested }) {
  const { result, took_ms: tookMs, detail, balance, balance_usd: usd, lacks = [] } = tested;
  const [word, tone, what] = RESULTS[result] ?? [result, "warn"];
  const left = usd === undefined ? balance : moneyText(usd);
  return (
    <div class="rounded-lg bg-sunk p-3">
      <p class="flex flex-wrap gap-x-3">
        <Status word={word} tone={tone} />
        {result !== "untested" && <span class="text-soft">{durationText(tookMs)}</span>}
        {left !== undefined && <span>{left} left there</span>}
      </p>
      {what !== undefined && <p class="text-sm text-soft">{what}</p>}
      {detail !== undefined && (
        <p class="text-sm wrap-anywhere">
          <bdi>{detail}</bdi>
        </p>
      )}
      {lacks.length > 0 && (
        <ul class="mt-1 list-disc pl-5 text-sm" aria-label="What models need there and it does not have">
          {lacks.map((line) => (
            <li key={line} class="wrap-anywhere">
              {line}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
