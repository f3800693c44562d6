import { allQuotas } from "../../api/lists.ts";
import { useReading } from "../../api/use.ts";
import { Link } from "../../parts/link.tsx";
import { Meter } from "../../parts/meter.tsx";
import { moneyText } from "../../parts/money.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";

/** From this share on a quota is near its end. */
const NEAR = 0.8;
const SHOWN = 10;

/** Quotas of keys that are near their end, the nearest first. */
export function Quotas({ account }: { readonly account: string }) {
  const { data, problem, again } = useReading(`quotas ${account}`, (signal) => allQuotas(account, signal));
  const rows = (data ?? []).map((quota) => ({ ...quota, share: shareOf(quota) }));
  const near = rows.filter(({ share }) => share >= NEAR).sort((one, other) => other.share - one.share);
  return (
    <Section title="Quotas near their end">
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="quotas" />}
      {data !== undefined && near.length === 0 && (
        <p class="text-soft">
          {rows.length === 0
            ? "No active key has a quota. A quota keeps one program from spending what is meant for others; it is set on the key."
            : `None of ${rows.length}: each has more than a fifth left.`}
        </p>
      )}
      {near.length > 0 && (
        <ul class="grid grid-cols-1 gap-3 md:grid-cols-2 2xl:grid-cols-3">
          {near.slice(0, SHOWN).map((quota) => (
            <li
              key={quota.key_id}
              class="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-card p-4"
            >
              <Link href={hrefOf("keys", quota.key_id)}>
                <bdi class="wrap-anywhere">
                  {quota.account} / {quota.key}
                </bdi>
              </Link>
              <Meter
                share={quota.share}
                text={`${moneyText(quota.remaining)} left of ${moneyText(quota.limit)}${quota.reset === "total" ? "" : `, ${quota.reset}`}`}
              />
            </li>
          ))}
        </ul>
      )}
      {near.length > SHOWN && <p class="text-soft">And {near.length - SHOWN} more.</p>}
    </Section>
  );
}

function shareOf({ limit, remaining }: { readonly limit: string; readonly remaining: string }): number {
  return Number(limit) <= 0 ? 1 : 1 - Number(remaining) / Number(limit);
}
