import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { counted } from "../../parts/count.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Meter } from "../../parts/meter.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { Time, timeText } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { UseIt } from "../key/use-it.tsx";

type AccountStatus = Schemas["AccountStatus"];

/** Why no task could be created, and what the reader can do. */
const BLOCKERS: Readonly<Record<string, string>> = {
  draining: "The service is about to stop and takes no new tasks. Try again in a moment.",
  balance: "The account has no money left. Whoever manages the service can credit it.",
  key_quota:
    "The quota of this key is used up. It begins anew as written below, or whoever manages the service raises it.",
  models: "This key may use none of the models there are. Whoever manages the service can change that.",
  rate_limit: "This key has made its requests of this minute. Wait for the next one.",
  concurrency: "This key has as many tasks under way as it may. Wait until one ends.",
};

/** A tenant's own account and key: what is left, what it may do, and how to use it. */
export function Screen() {
  const { data, problem, again } = useReading("own account", (signal) =>
    ask("GET /v1/account/status", {}, { signal }),
  );
  return (
    <Page title="Account">
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="the account" />}
      {data !== undefined && <Parts status={data} />}
    </Page>
  );
}

function Parts({ status }: { readonly status: AccountStatus }) {
  const { key } = status;
  return (
    <>
      {!status.can_create && (
        <div role="status" class="rounded-xl border border-warn bg-card p-4">
          <p class="font-medium text-warn">No new task can be created now</p>
          {status.blocked_by.map((blocker) => (
            <p key={blocker} class="mt-1">
              {BLOCKERS[blocker] ?? blocker.replaceAll("_", " ")}
            </p>
          ))}
        </div>
      )}
      <div class="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Balance status={status} />
        <Used status={status} />
      </div>
      <Section title={`This key: ${key.name}`}>
        <KeyParts status={status} />
      </Section>
      <Section title="Use it">
        <p class="text-soft">Keep your key in the variable SVC_API_KEY: nobody can show it again.</p>
        <UseIt reader="tenant" models={key.permissions.models} />
      </Section>
    </>
  );
}

function Balance({ status: { account, balance } }: { readonly status: AccountStatus }) {
  return (
    <Section title={`Account: ${account.name}`}>
      <div class="grow rounded-xl border border-line bg-card p-4">
        <Facts
          facts={[
            [
              "Available",
              balance.available === null ? (
                "any amount"
              ) : (
                <Money key="available" amount={balance.available} />
              ),
            ],
            ["Balance", <Money key="total" amount={balance.total} />],
            ["Held", <Money key="reserved" amount={balance.reserved} />],
            ["Mode", balance.mode],
            ["State", <Status key="state" word={account.status} />],
          ]}
        />
      </div>
    </Section>
  );
}

function Used({ status: { usage, tasks } }: { readonly status: AccountStatus }) {
  const text = ({ cost, tasks: count, outputs }: AccountStatus["usage"]["today"]) =>
    `${moneyText(cost)} · ${counted(count, "task")} · ${counted(outputs, "result")}`;
  return (
    <Section title="Used">
      <div class="grow rounded-xl border border-line bg-card p-4">
        <Facts
          facts={[
            ["Today (UTC)", text(usage.today)],
            ["This month", text(usage.month)],
            ["Under way", `${tasks.processing} processing, ${tasks.pending} pending`],
            [
              "More",
              <Link key="more" href={hrefOf("money")}>
                By day, model and key
              </Link>,
            ],
          ]}
        />
      </div>
    </Section>
  );
}

function KeyParts({ status: { key } }: { readonly status: AccountStatus }) {
  const { quota, permissions } = key;
  return (
    <div class="flex flex-col gap-4 rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          [
            "Key",
            <code key="prefix" class="font-mono">
              {key.prefix}
            </code>,
          ],
          ["Expires", key.expires_at === null ? "never" : <Time key="expires" at={key.expires_at} />],
          ["Models", permissions.models?.join(", ") ?? "all"],
          ["May create", permissions.features?.join(", ") ?? "everything"],
          ["Addresses", key.ip_restricted ? "some only" : "any"],
          ...key.rate_limits.map(
            ({ metric, limit, remaining }) =>
              [
                metric === "requests" ? "Requests a minute" : "Tasks at once",
                `${remaining} of ${limit} left`,
              ] as const,
          ),
          ["Quota", quota.limit === null ? "any amount" : undefined],
        ]}
      />
      {quota.limit !== null && (
        <Meter
          share={shareOf(quota.limit, quota.remaining)}
          text={`Quota: ${moneyText(quota.remaining ?? "0")} left of ${moneyText(quota.limit)}.${quota.resets_at === null ? "" : ` It begins anew ${timeText(quota.resets_at)}.`}`}
        />
      )}
    </div>
  );
}

function shareOf(limit: string, remaining: string | null): number {
  return Number(limit) <= 0 ? 1 : 1 - Number(remaining ?? 0) / Number(limit);
}
