import { keyStatus } from "../../../src/domain/access/account.ts";
import { CURRENCY, formatAmount } from "../../../src/domain/money/money.ts";
import type { Field } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";
import type { Manage, ShownKey, ShownQuota } from "../../manage/port.ts";

type Quota = ShownQuota["quota"];

/** What is left of a key's quota; undefined for a key without one, and for one that is refused. */
export async function quotaOf(manage: Manage, key: ShownKey, now: number): Promise<Quota | undefined> {
  if (key.policy.quota === undefined || keyStatus(key, now) !== "active") return undefined;
  const { items } = await manage.listQuotas({ key: key.id });
  return items[0]?.quota;
}

export function quotaForm(quota: Quota | undefined) {
  if (quota === undefined) return {};
  const { used, reserved, remaining, resetsAt } = quota;
  return {
    quota_use: {
      used: formatAmount(used),
      reserved: formatAmount(reserved),
      remaining: formatAmount(remaining),
      resets_at: resetsAt === undefined ? null : Math.floor(resetsAt / 1000),
    },
  };
}

export function quotaField(quota: Quota | undefined): Field {
  if (quota === undefined) return ["of its quota", undefined];
  const { used, reserved, remaining, resetsAt } = quota;
  const left = `${formatAmount(remaining)} ${CURRENCY} left${resetsAt === undefined ? "" : ` until ${formatTime(resetsAt)}`}`;
  return ["of its quota", `${left}; ${formatAmount(used)} spent, ${formatAmount(reserved)} held`];
}
